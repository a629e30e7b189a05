/** Which credentials an attached key may have: the key itself shows only its model, so the likeliest come first. */
import { identityBounds } from '../../src/contract/limits.ts';

/** Facts that an attached key and its station show. */
export interface CandidatesQuery {
  readonly relyingParty: string;
  readonly aaguid: string;
  /** Empty if the key reports none. */
  readonly firmware: string;
  /** Empty if it has no name. */
  readonly station: string;
  /** From 1. */
  readonly portion: number;
}

/** A credential that the key may have. */
export interface CandidateRow {
  readonly credentialId: string;
  readonly device: number;
  readonly serialNumber: string;
}

/**
 * Credentials that this station had last, then those with the firmware of the key, then the others of its model. Each class comes in the
 * order of an index, so that it ends after the portion.
 */
const classes = ['station = ?', ...['=', '>', '<'].map(relation => `station <> ? AND firmware ${relation} ?`)];

const classSql = (condition: string, index: number) =>
  `SELECT * FROM (SELECT ${index} AS class, ${index < 2 ? "''" : 'firmware'} AS kind, credential_id, device, seen_at, number FROM identity
    WHERE aaguid = ? AND lost_at IS NULL AND relying_party = ? AND ${condition}
    ORDER BY ${index < 2 ? '' : 'firmware DESC, '}seen_at DESC, number DESC LIMIT ?) AS class${index}`;

const sql = `SELECT credential_id AS "credentialId", device, serial_number AS "serialNumber"
  FROM (${classes.map(classSql).join(' UNION ALL ')}) AS candidate JOIN device ON device.number = candidate.device
  ORDER BY class, kind DESC, seen_at DESC, candidate.number DESC LIMIT ? OFFSET ?`;

/** The portion of a query as SQL, and its values. */
export function candidatesIn(query: CandidatesQuery): readonly [sql: string, values: readonly (string | number)[]] {
  const { relyingParty, aaguid, firmware, station, portion } = query;
  const offset = identityBounds.portions.slice(0, portion - 1).reduce((sum, size) => sum + size, 0);
  const size = identityBounds.portions[portion - 1]!;
  const of = (index: number) => [aaguid, relyingParty, station, ...(index === 0 ? [] : [firmware]), offset + size];
  return [sql, [...classes.flatMap((_, index) => of(index)), size, offset]];
}
