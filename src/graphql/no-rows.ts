/** A condition that no row meets. Not `OR: []`: inside an AND Prisma takes that for true. */
export const NO_ROWS = { id: { in: [] as string[] } }
