import { describe, expect, it } from 'vitest'
import { decodeTypeId, encodeTypeId, newId } from '../../src/lib/type-id.ts'
import { isUuidV7 } from '../../src/lib/uuid.ts'

const UUID = '01890a5d-ac96-774b-bcce-b302099a8057'
const ID = 'tkt_01h455vb4pex5vsknk084sn02q'

/** The same encoding by plain arithmetic. */
function reference(uuid: string): string {
  let bits = BigInt(`0x${uuid.replaceAll('-', '')}`)
  let text = ''
  for (let i = 0; i < 26; i++) {
    text = '0123456789abcdefghjkmnpqrstvwxyz'.charAt(Number(bits & 31n)) + text
    bits >>= 5n
  }
  return text
}

describe('TypeID', () => {
  it('PLAT-58 matches the published vector both ways', () => {
    expect(encodeTypeId('tkt', UUID)).toBe(ID)
    expect(decodeTypeId(ID)).toEqual({ prefix: 'tkt', uuid: UUID })
  })

  it('PLAT-58 round-trips new ids, agrees with plain arithmetic and keeps their order', () => {
    const uuids = Array.from({ length: 2000 }, newId)
    const ids = uuids.map((uuid) => encodeTypeId('rom', uuid))
    expect(ids.map((id) => decodeTypeId(id)?.uuid)).toEqual(uuids)
    expect(ids).toEqual(uuids.map((uuid) => `rom_${reference(uuid)}`))
    expect([...ids].sort()).toEqual([...uuids].sort().map((uuid) => encodeTypeId('rom', uuid)))
    expect(uuids).toEqual([...uuids].sort())
  })

  it('PLAT-58 holds the lowest and highest version 7 UUID', () => {
    for (const uuid of ['00000000-0000-7000-8000-000000000000', 'ffffffff-ffff-7fff-bfff-ffffffffffff']) {
      expect(decodeTypeId(encodeTypeId('usr', uuid))).toEqual({ prefix: 'usr', uuid })
    }
  })

  it.each([
    ['nothing', ''],
    ['a bare UUID', UUID],
    ['no prefix', '01h455vb4pex5vsknk084sn02q'],
    ['an empty prefix', '_01h455vb4pex5vsknk084sn02q'],
    ['a prefix with a digit', 'tk1_01h455vb4pex5vsknk084sn02q'],
    ['an upper-case prefix', 'TKT_01h455vb4pex5vsknk084sn02q'],
    ['a second separator', 'tkt__01h455vb4pex5vsknk084sn02q'],
    ['an upper-case suffix', 'tkt_01H455VB4PEX5VSKNK084SN02Q'],
    ['one upper-case digit', 'tkt_01h455vb4pex5vsknk084sn02Q'],
    ['25 digits', 'tkt_01h455vb4pex5vsknk084sn02'],
    ['27 digits', 'tkt_01h455vb4pex5vsknk084sn02qq'],
    ['more than 128 bits', 'tkt_81h455vb4pex5vsknk084sn02q'],
    ['the letter i', 'tkt_01h455vb4pex5vsknk084sn02i'],
    ['the letter l', 'tkt_01h455vb4pex5vsknk084sn02l'],
    ['the letter o', 'tkt_o1h455vb4pex5vsknk084sn02q'],
    ['the letter u', 'tkt_01h455vb4pex5vsknu084sn02q'],
    ['a letter beyond ASCII', 'tkt_01h455vb4pex5vsknk084sn02é'],
    ['a dash', 'tkt-01h455vb4pex5vsknk084sn02q'],
    ['a space before', ' tkt_01h455vb4pex5vsknk084sn02q'],
    ['a line end after', 'tkt_01h455vb4pex5vsknk084sn02q\n'],
    ['a line end in the prefix', 'tkt\n_01h455vb4pex5vsknk084sn02q'],
    ['a NUL', 'tkt_01h455vb4pex5vsknk084sn02\0'],
    ['version 4', `tkt_${reference('01890a5d-ac96-474b-bcce-b302099a8057')}`],
    ['a wrong variant', `tkt_${reference('01890a5d-ac96-774b-ccce-b302099a8057')}`],
  ])('PLAT-58 refuses %s', (_, text) => {
    expect(decodeTypeId(text)).toBeNull()
  })

  it('PLAT-58 encodes nothing but a lower-case UUIDv7', () => {
    for (const uuid of ['', ID, UUID.toUpperCase(), UUID.replace('-774b', '-474b'), UUID.replaceAll('-', '')]) {
      expect(isUuidV7(uuid)).toBe(false)
      expect(() => encodeTypeId('tkt', uuid)).toThrow(TypeError)
    }
  })
})
