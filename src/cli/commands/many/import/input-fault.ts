/** The words for an input that cannot be read. */
import { tagNameWords } from '../../../../contract/tags.ts';
import type { RegistrationField } from '../../../../enrollment/import/columns.ts';
import type { InputFault } from '../../../../enrollment/import/fault.ts';
import type { Mapping, Preset } from '../../../../enrollment/import/mapping.ts';
import { type Fault, usage } from '../../../fault.ts';

/** The usage fault for an input. `name`: of the file. */
export function faultOf(name: string, fault: InputFault, mapping: Mapping): Fault {
  switch (fault.what) {
    case 'empty':
      return usage(`${name} is empty`, 'it needs a header row, and one device on each line after it');
    case 'header':
      return usage(`${name}, line ${fault.line}: ${fault.problem}`, 'the first line must be a header row');
    case 'columns absent':
      return usage(`${name} has no column ${fault.columns.join(', ')}`, headerHint(fault.names));
    case 'fields missing':
      return usage(`${name} has no column for ${fault.fields.join(', ')}`, missingHint(fault, mapping));
    case 'column twice':
      return usage(`${name} has two columns for ${fault.column}`, 'remove one of them');
    case 'tag name':
      return usage(`${name} has a column "${fault.column}", which is not a name of a tag`, `a name is ${tagNameWords}`);
    case 'array':
      return usage(
        `${name}, line ${fault.line}: ${fault.problem}`,
        'for JSON lines, name the file .jsonl or give --format jsonl',
      );
    case 'too long':
      return usage(`${name} cannot be read: ${fault.problem}`);
    case 'xml':
      return usage(
        `${name} is XML`,
        fault.isPskc
          ? 'it looks like a PSKC file: add --map pskc'
          : 'only PSKC files (RFC 6030) can be read: --map pskc',
      );
    case 'pskc':
      return usage(`${name}, line ${fault.line}: ${fault.problem}`);
    case 'no packages':
      return usage(`${name} has no KeyPackage`);
  }
}

const flagOf: Readonly<Partial<Record<RegistrationField, string>>> = {
  deviceType: '--type',
  manufacturer: '--manufacturer',
  model: '--model',
};

const makers: Readonly<Record<Preset, string>> = {
  yubico: 'Yubico',
  'entra-oath': 'Microsoft Entra',
  'snipe-it': 'Snipe-IT',
  pskc: 'key packages',
};

function missingHint(
  { fields, names, looksLike }: Extract<InputFault, { readonly what: 'fields missing' }>,
  { preset }: Mapping,
): string {
  const flags = fields.map(field => flagOf[field]);
  if (preset === null && looksLike !== null)
    return `it looks like a file of ${makers[looksLike]}: add --map ${looksLike}`;
  return preset !== null && !flags.includes(undefined)
    ? `for all lines: ${flags.map(flag => `${flag} …`).join(' ')}`
    : headerHint(names);
}

/** The first line is quoted only if it can be a header row: a line of data may hold secrets. */
function headerHint(names: readonly string[]): string {
  const needed = 'the first line must be a header row with the names of the columns';
  const isData = names.some(name => /\d{3}|[=/+]/.test(name) || name.trim().length > 40);
  return isData ? needed : `${needed}; it is: ${names.join(', ').slice(0, 200)}`;
}
