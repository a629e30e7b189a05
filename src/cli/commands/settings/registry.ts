/** Reads the settings of a registry, and carries out changes of them. */
import { randomBytes } from 'node:crypto';
import type { RouteName } from '../../../contract/endpoints.ts';
import { endpoints } from '../../../contract/endpoints.ts';
import {
  bodySchema,
  isListed,
  isSecretField,
  type ListedSetting,
  type SettingsRow,
  settingsRows,
} from '../../../contract/settings-file.ts';
import type { Client } from '../../client/client.ts';
import { nullIfRefused } from '../../client/failures.ts';
import { itemsOf } from '../../client/pages.ts';
import { fieldsOf, type RegistrySettings, type Step } from './plan.ts';
import type { SettingsRecord } from './read.ts';

/** All that the registry has; a part that its server leaves out is absent. */
export async function readRegistry(registry: Client): Promise<RegistrySettings> {
  const found: [string, SettingsRecord | readonly SettingsRecord[]][] = [];
  for (const row of settingsRows) {
    const records = await nullIfRefused(recordsOf(registry, row), 404);
    if (records !== null) found.push([row.place, records]);
  }
  return Object.fromEntries(found);
}

async function recordsOf(registry: Client, row: SettingsRow): Promise<SettingsRecord | readonly SettingsRecord[]> {
  if (!isListed(row)) return call(registry, row.show);
  if (!(endpoints[row.list].returns as readonly string[]).includes('pagination'))
    return (await call(registry, row.list)).list as readonly SettingsRecord[];
  const all: SettingsRecord[] = [];
  for await (const item of itemsOf(registry, row.list as 'listUsers')) all.push(item as unknown as SettingsRecord);
  return all;
}

/** The data of an operation that a row names. */
async function call(registry: Client, operation: RouteName, input: object = {}): Promise<SettingsRecord> {
  const { data } = await registry.send({ operation, input: input as never });
  return data as unknown as SettingsRecord;
}

/** A secret that the registry has made for a new record, to be shown once. */
export interface MadeSecret {
  readonly id: string;
  readonly secret: string;
}

/** Carries out one change. `secrets` are the values of its references. */
export async function carryOut(
  registry: Client,
  step: Step,
  secrets: Readonly<Record<string, string>>,
): Promise<MadeSecret | null> {
  const { row, action, wanted } = step;
  if (!isListed(row)) {
    await call(registry, row.set, { body: { ...wanted, ...secrets } });
    return null;
  }
  if (action === 'remove') {
    await call(registry, row.remove, { params: paramsOf(row, step.id!), ...(row.removal && { body: row.removal }) });
    return null;
  }
  if (action === 'update') {
    await change(
      registry,
      row,
      step.id!,
      wanted,
      step.changes.map(({ field }) => field),
    );
    return null;
  }
  const body = { ...chosen(wanted, fieldsOf(row.create)), ...unknownSecrets(row), ...secrets };
  const made = await call(registry, row.create, { body });
  const id = String(made[row.id]);
  const others = Object.entries(wanted).filter(([field]) => !fieldsOf(row.create).includes(field));
  const shown: SettingsRecord = { ...made, ...row.derived?.(made) };
  const differing = others.filter(([field, value]) => shown[field] !== value).map(([field]) => field);
  const secret = row.made === undefined ? null : made[row.made];
  const found = typeof secret === 'string' ? { id, secret } : null;
  // A failure of this step must not lose the secret.
  if (differing.length > 0)
    await change(registry, row, id, wanted, differing).catch(error => {
      throw new ChangedInPart(error, found);
    });
  return found;
}

/** A record was created, and the rest of its fields could not be set. */
export class ChangedInPart extends Error {
  readonly reason: unknown;
  readonly made: MadeSecret | null;
  constructor(reason: unknown, made: MadeSecret | null) {
    super('created, and not changed');
    this.reason = reason;
    this.made = made;
  }
}

async function change(
  registry: Client,
  row: ListedSetting,
  id: string,
  wanted: SettingsRecord,
  fields: readonly string[],
): Promise<void> {
  const params = paramsOf(row, id);
  if (row.switch && fields.includes(row.switch.field))
    await call(registry, wanted[row.switch.field] === true ? row.switch.on : row.switch.off, { params });
  const names = row.update ? fieldsOf(row.update).filter(name => fields.includes(name)) : [];
  if (names.length > 0) await call(registry, row.update!, { params, body: chosen(wanted, names) });
}

const paramsOf = (row: ListedSetting, id: string) => ({ [row.param ?? row.id]: id });

const chosen = (record: SettingsRecord, names: readonly string[]): SettingsRecord =>
  Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)));

/** Secrets that a new record must have, and that no one needs to know: an ADMIN sets another one later. */
function unknownSecrets(row: ListedSetting): Readonly<Record<string, string>> {
  const { properties = {}, required = [] } = bodySchema(row.create);
  const needed = required.filter(name => isSecretField(properties[name] ?? {}));
  return Object.fromEntries(needed.map(name => [name, randomBytes(24).toString('base64url')]));
}

/** Whether a step creates a record whose secret the registry makes. */
export function makesSecret({ action, row, secrets }: Step): boolean {
  if (action !== 'create' || !isListed(row) || row.made === undefined) return false;
  return !Object.hasOwn(secrets, row.made);
}
