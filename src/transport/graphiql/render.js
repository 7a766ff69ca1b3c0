// Runs in the browser, after GraphiQL.
;(() => {
  const options = JSON.parse(document.getElementById('options').textContent)
  // With nothing stored from an earlier visit it shows the first tab's document, but not its variables.
  if (!localStorage.getItem('graphiql:tabState')) options.variables = options.defaultTabs[0].variables
  YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), options)
})()
