import { matchesProof, storedProof } from '../../../daemon/devices/proof.ts';
import type { DeviceQuery, Tally } from '../../../daemon/devices/queries.ts';
import type { DeviceRecord, DeviceRow } from '../../../daemon/devices/records.ts';
import type { Rows } from '../../../daemon/store/queries.ts';
import { personKey } from '../../../src/contract/person-key.ts';
import type { SearchField } from '../../../src/contract/search-words.ts';
import { countedTags } from '../../../src/contract/values.ts';

/** The expected list of devices, in the simplest possible code. */
export function listModel(
  devices: readonly DeviceRecord[],
  query: DeviceQuery,
  names: PersonNames = new Map(),
): Rows<DeviceRow> {
  const direction = query.descending ? -1 : 1;
  const found = devices
    .filter(device => matches(device, query) && hasWords(device, query, names))
    .sort((a, b) => {
      const [x, y] = [sortKey(a, query), sortKey(b, query)];
      if (x === y) return direction * (a.number - b.number);
      if (x === null || y === null) return x === null ? 1 : -1;
      return direction * (typeof x === 'string' ? byCodePoint(x, String(y)) : x - Number(y));
    });
  return { rows: found.slice(query.offset, query.offset + query.limit).map(toRow), total: found.length };
}

/** Names of persons, by their numbers. */
type PersonNames = ReadonlyMap<number, string | null>;

function hasWords(device: DeviceRecord, { search = [] }: DeviceQuery, names: PersonNames): boolean {
  const texts: Readonly<Record<SearchField, readonly (string | null | undefined)[]>> = {
    id: [`DEV-${device.number}`, device.serialNumber],
    maker: [device.manufacturer],
    model: [device.model],
    user: [device.userId],
    name: [device.person === null ? null : names.get(device.person)],
    note: [device.note],
    tag: Object.entries(device.tags).map(([name, value]) => `${name}:${value}`),
  };
  return search.every(({ text, in: fields }) =>
    fields.flatMap(field => texts[field]).some(each => personKey(each ?? '').includes(text)),
  );
}

/** Code points sort as the bytes of UTF-8; JavaScript compares UTF-16 code units, which differ above U+FFFF. */
const byCodePoint = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

function sortKey(device: DeviceRecord, { sortBy }: DeviceQuery): string | number | null {
  if (sortBy === 'deviceId') return device.number;
  if (sortBy === 'createTime') return device.createdAt;
  return device[sortBy];
}

function matches(device: DeviceRecord, query: DeviceQuery): boolean {
  const { deviceType, status, manufacturer, model, userId, keyword, serialNumber, tags = [] } = query;
  const { createdFrom = -Infinity, createdTo = Infinity, lastUsedBefore, codeExpiresBefore = Infinity } = query;
  return (
    (deviceType?.includes(device.deviceType) ?? true) &&
    (status?.includes(device.status) ?? true) &&
    (serialNumber === undefined || device.serialNumber === serialNumber) &&
    device.createdAt >= createdFrom &&
    device.createdAt < createdTo &&
    (lastUsedBefore === undefined || (device.lastUsedAt ?? device.activatedAt ?? Infinity) < lastUsedBefore) &&
    device.activationCodeExpiresAt < codeExpiresBefore &&
    (manufacturer === undefined || device.manufacturer === manufacturer) &&
    (model === undefined || device.model === model) &&
    (userId === undefined || device.userKey === personKey(userId)) &&
    matchesProof(device.proof, query) &&
    tags.every(({ name, value }) => Object.entries(device.tags).some(([n, v]) => n === name && v === value)) &&
    (keyword === undefined ||
      [`DEV-${device.number}`, device.serialNumber].some(text => text.toLowerCase().includes(lower(keyword))))
  );
}

const lower = (text: string) => text.replace(/[A-Z]/g, letter => letter.toLowerCase());

function toRow(device: DeviceRecord): DeviceRow {
  const { number, deviceType, serialNumber, manufacturer, model, status, userId, userKey, person } = device;
  const { activationCode, activationCodeExpiresAt, createdAt, activatedAt, lastUsedAt, tags, proof } = device;
  const kind = { number, deviceType, serialNumber, manufacturer, model, status, userId, userKey, person };
  return { ...kind, activationCode, activationCodeExpiresAt, createdAt, activatedAt, lastUsedAt, tags, proof };
}

/** The expected statistics, except the days. */
export function talliesOf(devices: readonly DeviceRecord[]): readonly Tally[] {
  const keys = devices.flatMap(({ manufacturer, model, status, tags, proof }) => [
    { subject: 'model', value: `${manufacturer}\n${model}`, status } as const,
    ...countedTags.flatMap(tag => (tags[tag] === undefined ? [] : { subject: tag, value: tags[tag], status })),
    ...(proof === null
      ? []
      : storedProof(proof).advisories.map(value => ({ subject: 'advisory', value, status }) as const)),
  ]);
  const groups = Map.groupBy(keys, key => JSON.stringify(key));
  return [...groups.values()].map(group => ({ ...group[0]!, count: group.length }));
}

const day = 86_400_000;
const states = {
  DEVICE_REGISTERED: ['INACTIVE', null],
  DEVICE_ACTIVATED: ['ACTIVE', 'INACTIVE'],
  DEVICE_LOCKED: ['LOCKED', 'ACTIVE'],
  DEVICE_UNLOCKED: ['ACTIVE', 'LOCKED'],
} as const;

/** The days of statistics, from entries that retire no device. */
export function daysOf(entries: readonly { readonly type: string; readonly at: number }[], since: number): Tally[] {
  const moves = entries.flatMap(({ type, at }) => {
    const [to, from] = states[type as keyof typeof states] ?? [null, null];
    const value = `${Math.floor(at / day)}`;
    return [...(to ? [{ value, status: to, by: 1 }] : []), ...(from ? [{ value, status: from, by: -1 }] : [])];
  });
  const groups = Map.groupBy(
    moves.filter(({ value }) => Number(value) >= Math.floor(since / day)),
    ({ value, status }) => `${value} ${status}`,
  );
  return [...groups.values()].map(group => {
    const { value, status } = group[0]!;
    return { subject: 'day', value, status, count: group.reduce((sum, { by }) => sum + by, 0) };
  });
}
