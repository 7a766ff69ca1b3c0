type SpaceSlugs = (orgId: string, spaceId: string) => Promise<string | null>

let slugs: SpaceSlugs | undefined

/** Called once by the body that has the spaces: how events learn what a space is called. */
export function registerSpaceSlugs(read: SpaceSlugs): void {
  slugs = read
}

/** What the space is called now, '' where there is none. */
export async function spaceSlugOf(orgId: string, spaceId: string | null | undefined): Promise<string> {
  if (!spaceId || !slugs) return ''
  return (await slugs(orgId, spaceId)) ?? ''
}
