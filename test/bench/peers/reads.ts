import { readOne, type Scope } from './transaction.ts'

// The answers of the product to the byte, put together by the database: row_to_json and array_to_json add no spaces.

const NODE = `
  SELECT row_to_json(answer)::text AS text FROM (
    SELECT (
      SELECT row_to_json(space) FROM (
        SELECT s.slug, s.name FROM rooms.spaces AS s
        WHERE s.org_id = $1 AND s.id = $2 AND EXISTS (
          SELECT FROM rooms.space_members AS m WHERE m.org_id = s.org_id AND m.space_id = s.id AND m.user_id = $3)
      ) AS space) AS node
  ) AS answer`

const LIST = `
  SELECT row_to_json(answer)::text AS text FROM (
    SELECT (
      SELECT row_to_json(space) FROM (
        SELECT (
          SELECT row_to_json(connection) FROM (
            SELECT array_to_json(array_agg(row_to_json(node))) AS nodes FROM (
              SELECT upper(m.role) AS role, (SELECT row_to_json(u) FROM (SELECT u.display_name AS "displayName") AS u) AS "user"
              FROM rooms.space_members AS m JOIN identity.users AS u ON u.id = m.user_id
              WHERE m.org_id = s.org_id AND m.space_id = s.id AND u.status = 'active' AND (
                u.home_org_id = m.org_id OR EXISTS (
                  SELECT FROM identity.memberships AS standing
                  WHERE standing.org_id = m.org_id AND standing.user_id = u.id
                    AND standing.joined_at IS NOT NULL AND standing.revoked_at IS NULL))
              ORDER BY m.joined_at, m.user_id LIMIT 50
            ) AS node
          ) AS connection) AS members
        FROM rooms.spaces AS s
        WHERE s.org_id = $1 AND s.id = $2 AND EXISTS (
          SELECT FROM rooms.space_members AS m WHERE m.org_id = s.org_id AND m.space_id = s.id AND m.user_id = $3)
      ) AS space) AS space
  ) AS answer`

const BOARD = `
  SELECT row_to_json(answer)::text AS text FROM (
    SELECT (
      SELECT row_to_json(space) FROM (
        SELECT s.name, (
          SELECT row_to_json(connection) FROM (
            SELECT array_to_json(array_agg(row_to_json(node))) AS nodes FROM (
              SELECT r.title, (
                SELECT row_to_json(poker) FROM (
                  SELECT (
                    SELECT array_to_json(array_agg(row_to_json(story))) FROM (
                      SELECT st.title, st.estimate FROM rooms.stories AS st
                      WHERE st.org_id = r.org_id AND st.room_id = r.id ORDER BY st.position, st.id
                    ) AS story) AS stories
                ) AS poker) AS poker
              FROM rooms.rooms AS r WHERE r.org_id = s.org_id AND r.space_id = s.id
              ORDER BY r.created_at DESC, r.id DESC LIMIT 10
            ) AS node
          ) AS connection) AS rooms
        FROM rooms.spaces AS s
        WHERE s.org_id = $1 AND s.id = $2 AND EXISTS (
          SELECT FROM rooms.space_members AS m WHERE m.org_id = s.org_id AND m.space_id = s.id AND m.user_id = $3)
      ) AS space) AS space
  ) AS answer`

type Asked = { id: string }

const read =
  (name: string, text: string) =>
  async (scope: Required<Scope>, { id }: Asked) => {
    const values = [scope.org, id, scope.user]
    const row = await readOne<{ text: string }>('REPEATABLE READ READ ONLY', scope, {
      name,
      text,
      values,
    })
    return row?.text ?? '{}'
  }

export const readNode = read('node', NODE)
export const readList = read('list', LIST)
export const readBoard = read('board', BOARD)
