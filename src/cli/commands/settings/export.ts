/** Writes the settings of a registry as a commented file, and its schema. */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import {
  bodySchema,
  isListed,
  isSecretField,
  type PlainSchema,
  publishedSchema,
  recordSchema,
  type SettingsRow,
  settingsRows,
} from '../../../contract/settings-file.ts';
import { command } from '../../framework/define.ts';
import { jsonText, writeNew } from '../../settings/files.ts';
import { safe } from '../../terminal/text.ts';
import { writtenYaml, yamlDocument } from '../../terminal/yaml.ts';
import { type RegistrySettings, shownRecord } from './plan.ts';
import type { SettingsRecord } from './read.ts';
import { readRegistry } from './registry.ts';

/** Writes the file. */
export const settingsExport = command({
  description:
    'Writes accounts, service tokens, providers, webhooks, the directory, single sign-on and policies as one YAML file with comments. It has no passwords and no secrets: a line such as "secret: env:SECRET_ENTRA" names the variable from which settings apply reads the secret of a new provider. Rate limits and other settings of the daemon are variables of its environment, and are not in the file.\nWithout FILE, it is printed. --schema writes the JSON Schema of such files, for editors.',
  args: [{ name: 'FILE', help: 'file to write', optional: true }],
  flags: {
    force: { help: 'replace a file that exists' },
    schema: { help: 'write the JSON Schema of the file instead' },
  },
  examples: {
    'into a file that is reviewed like code': 'settings export registry.yaml',
    'the schema, for an editor': 'settings export --schema registry.schema.json',
  },
  async run({ args: [file], flags }, context) {
    const { out, registry } = context;
    if (flags.schema) {
      if (file === undefined) return out.document(publishedSchema());
      writeNew(file, jsonText(publishedSchema()), flags.force);
      return out.notice(`The schema is written to ${safe(file)}`);
    }
    const exported = exportedSettings(await readRegistry(registry));
    for (const problem of exported.problems) out.warn(safe(problem));
    if (file === undefined) return out.json ? out.document(exported.value) : out.text(commentedYaml(exported.value));
    writeNew(file, out.json ? jsonText(exported.value) : commentedYaml(exported.value), flags.force);
    out.notice(`The settings are written to ${safe(file)}`);
    out.notice(`${out.tint('cyan', 'Next:')} devmgr settings apply ${safe(file)} --dry-run`);
  },
});

/** The settings of a registry as a file has them, and records that it cannot have. */
export function exportedSettings(registry: RegistrySettings) {
  const value: Record<string, unknown> = { devmgr: 1 };
  const problems: string[] = [];
  for (const row of settingsRows) {
    const found = registry[row.place];
    if (found === undefined) continue;
    const [outer = '', inner] = row.place.split('.');
    const record = isListed(row)
      ? exportedList(row, found as readonly SettingsRecord[], problems)
      : exportedOne(row, found as SettingsRecord);
    if (inner === undefined) value[outer] = record;
    else value[outer] = { ...(value[outer] as object), [inner]: record };
  }
  return { value, problems };
}

function exportedList(
  row: Extract<SettingsRow, { list: unknown }>,
  items: readonly SettingsRecord[],
  problems: string[],
): readonly SettingsRecord[] {
  const names = new Set<unknown>();
  return items
    .filter(item => !row.ignores?.(item) && !row.isRemoved?.(item))
    .toSorted((a, b) => (String(a[row.key]) < String(b[row.key]) ? -1 : 1))
    .flatMap(item => {
      const name = item[row.key];
      if (names.has(name)) {
        problems.push(
          `${String(item[row.id])} is not in the file: another ${row.words} has ${row.key} ${String(name)}`,
        );
        return [];
      }
      names.add(name);
      return [inOrder(row, { ...withoutNull(shownRecord(row, item)), ...referencesOf(row, item, String(name)) })];
    });
}

/** A record that is off has no other fields. */
function exportedOne(row: SettingsRow, item: SettingsRecord): SettingsRecord {
  if (item.enabled === false) return { enabled: false };
  return inOrder(row, { ...shownRecord(row, item), ...referencesOf(row, item, row.place) });
}

/** The name first; absent fields of a new record have these values anyway. */
const withoutNull = (record: SettingsRecord): SettingsRecord =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));

function inOrder(row: SettingsRow, record: SettingsRecord): SettingsRecord {
  const key = isListed(row) ? row.key : '';
  const names = Object.keys(recordSchema(row).properties ?? {}).toSorted(
    (a, b) => Number(b === key) - Number(a === key),
  );
  return Object.fromEntries(names.filter(name => name in record).map(name => [name, record[name]]));
}

/** References to the secrets of a record: the registry shows none of them. */
function referencesOf(row: SettingsRow, item: SettingsRecord, name: string): SettingsRecord {
  if (!row.hasSecret?.(item)) return {};
  const { properties = {} } = bodySchema(isListed(row) ? row.create : row.set);
  const variable = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]/g, '_')
    .toUpperCase();
  const secrets = Object.keys(properties).filter(field => isSecretField(properties[field]!));
  return Object.fromEntries(secrets.map(field => [field, `env:SECRET_${variable}`]));
}

const header = ` Settings of a devmgr registry. Apply them: devmgr settings apply FILE --dry-run
 What this file does not name stays as it is; with --prune, records that a list does not name are removed.
 Secrets are references: env:NAME is a variable, file:PATH is the first line of a file.
 They are read only where something is created or its address changes.`;

/** The settings with comments: what each part is, and what the fields of its records mean. */
export function commentedYaml(value: SettingsRecord): string {
  const document = yamlDocument(value);
  document.commentBefore = header;
  for (const row of settingsRows) {
    const path = row.place.split('.');
    const parent = document.getIn(path.slice(0, -1), true) ?? document.contents;
    const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1)) : undefined;
    if (!pair || !isScalar(pair.key)) continue;
    if (path.length === 1) pair.key.spaceBefore = true;
    pair.key.commentBefore = ` ${row.about}`;
    const { value: records } = pair;
    commentFields(isSeq(records) ? (records.items[0] as Node | undefined) : (records as Node), recordSchema(row));
  }
  return writtenYaml(document);
}

/** The meaning of each field, at the first record that has it. */
function commentFields(record: Node | undefined | null, { properties = {} }: PlainSchema): void {
  if (!isMap(record)) return;
  for (const { key, value } of record.items) {
    if (!isScalar(key)) continue;
    const schema = properties[String(key.value)];
    const { description } = { ...schema?.anyOf?.[0], ...schema };
    if (typeof description !== 'string') continue;
    if (isScalar(value)) value.comment = ` ${shortened(description)}`;
    else key.commentBefore = ` ${shortened(description)}`;
  }
}

const longestComment = 100;

/** The first part of a description. */
function shortened(description: string): string {
  const [part = ''] = description.split(/[;:] |\. /);
  return part.length <= longestComment ? part : `${part.slice(0, part.lastIndexOf(' ', longestComment))} …`;
}
