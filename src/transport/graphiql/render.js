// Runs in the browser, after GraphiQL.
YogaGraphiQL.renderYogaGraphiQL(
  document.getElementById('root'),
  JSON.parse(document.getElementById('options').textContent),
)
