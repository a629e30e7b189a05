/** `--map`: which column of a foreign file stands for which field. */
import { registrationFields } from '../../../../contract/readers.ts';
import { fieldOf, isSecretName, type RegistrationField } from '../../../../enrollment/import/columns.ts';
import { type Mapping, noMapping, presetMapping, presets } from '../../../../enrollment/import/mapping.ts';
import { usage } from '../../../fault.ts';

/** Reads `--map`: the name of a preset, or `COLUMN=FIELD` pairs. Throws a usage fault. */
export function mappingOf(text: string | undefined): Mapping {
  if (text === undefined) return noMapping;
  const preset = presets.find(name => name === text.trim().toLowerCase());
  if (preset !== undefined) return presetMapping(preset);
  if (!text.includes('='))
    throw usage(
      `--map "${text}" is not a preset`,
      `presets are ${presets.join(', ')}; or name columns: --map COLUMN=FIELD,…`,
    );
  const columns: Partial<Record<RegistrationField, readonly string[]>> = {};
  for (const pair of text.split(',')) {
    const [column, field] = pairOf(pair);
    if (columns[field] !== undefined) throw usage(`--map names two columns for ${field}`);
    columns[field] = [column];
  }
  return { ...noMapping, columns, isStrict: true };
}

function pairOf(pair: string): readonly [column: string, field: RegistrationField] {
  const at = pair.lastIndexOf('=');
  const [column, name] = at < 0 ? [pair.trim(), ''] : [pair.slice(0, at).trim(), pair.slice(at + 1)];
  if (column === '' || at < 0) throw usage(`--map "${pair.trim()}" is not COLUMN=FIELD`);
  const field = fieldOf(name);
  if (field === null || field === 'tags') {
    const others = registrationFields.filter(other => other !== 'tags');
    throw usage(`--map: "${name.trim()}" is not a field`, `fields are ${others.join(', ')}`);
  }
  if (isSecretName(column)) throw usage(`--map: column "${column}" holds secrets, which are never sent`);
  return [column, field];
}
