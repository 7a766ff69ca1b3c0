/** One figure of `/metrics`, with its labels as they are printed; 0 where it was never counted. */
export async function metricOf(url: string, series: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const line = text.split('\n').find((row) => row.startsWith(`${series} `))
  return line ? Number(line.slice(series.length + 1)) : 0
}
