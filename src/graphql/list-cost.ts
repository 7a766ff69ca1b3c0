/** A plain list has no page that bounds it: it costs, as does what is in it, by how many rows it usually has (PLAT-67). */
export const costOfRows = (usual: number) => ({ complexity: { field: usual, multiplier: usual } }) as const
