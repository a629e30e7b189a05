/** Placeholders of a template, `{serialNumber}` or `{tag:lot}`, and the values of a device for them. */
import { Code } from '../../../../contract/codes.ts';
import type { DeviceListItem } from '../../../../contract/devices.ts';
import { isTagName, tagNameWords } from '../../../../contract/tags.ts';
import { ServerRefusal } from '../../../client/failures.ts';
import { failure, usage } from '../../../fault.ts';

/** The fields of a device that a label can show. */
export type LabelDevice = Pick<
  DeviceListItem,
  | 'deviceId'
  | 'deviceType'
  | 'serialNumber'
  | 'manufacturer'
  | 'model'
  | 'status'
  | 'userId'
  | 'activationCode'
  | 'tags'
> & {
  /** Name of the person, of a roster or of the registry; absent, null or empty if it is unknown. */
  readonly name?: string | null | undefined;
  /** PIN of the key; only a letter has it. */
  readonly pin?: string;
};

/** A value in a template. */
export interface Placeholder {
  /** A field, or `tag:NAME`. */
  readonly name: string;
  /** Whether the value is drawn as a QR code. */
  readonly isQr: boolean;
  /** Longest text in characters; a longer one is cut and ends with three dots. Null prints it whole. */
  readonly most: number | null;
}

const fields: Readonly<Record<string, keyof LabelDevice>> = {
  serialNumber: 'serialNumber',
  deviceId: 'deviceId',
  activationCode: 'activationCode',
  userId: 'userId',
  name: 'name',
  type: 'deviceType',
  manufacturer: 'manufacturer',
  model: 'model',
  status: 'status',
  pin: 'pin',
};

/** Names of the fields that each label can have, for the help. */
export const fieldNames = Object.keys(fields).filter(name => name !== 'pin');

const placeholder = /\{(qr:)?(tag:[^{},]*|[A-Za-z]+)(?:,(\d{1,3}))?\}/g;
/** A text that begins with a brace, as a rule of CSS can, too. */
const braced = /\{[^{}^<;]{0,60}\}?/g;
/** First words of what was meant as a placeholder, in lower case. */
const meant: ReadonlySet<string> = new Set([...fieldNames.map(name => name.toLowerCase()), 'pin', 'qr', 'tag']);

/** The texts and placeholders of a template, in order. Throws a usage fault for an unknown name, and for a text like a placeholder. */
export function partsOf(text: string): (string | Placeholder)[] {
  const parts: (string | Placeholder)[] = [];
  let end = 0;
  for (const match of text.matchAll(placeholder)) {
    const [whole, qr, name = '', most] = match;
    checkName(whole, name);
    parts.push(text.slice(end, match.index), { name, isQr: qr !== undefined, most: most ? Number(most) : null });
    end = match.index + whole.length;
  }
  const all = [...parts, text.slice(end)].filter(part => part !== '');
  for (const part of all) if (typeof part === 'string') checkText(part);
  return all;
}

/** Throws a usage fault for a word alone in braces, and for a brace before the name of a field. */
function checkText(text: string): void {
  for (const [found] of text.matchAll(braced)) {
    const content = found.replaceAll(/[{}]/g, '').trim();
    const [word = ''] = content.split(/[\s,:]/, 1);
    const isWord = found.endsWith('}') && /^[\w-]+(?:,|$)/.test(content);
    if (isWord || meant.has(word.toLowerCase()))
      throw usage(
        `${found} in the template is not a placeholder`,
        'write it like {serialNumber}, {model,16}, {tag:lot} or {qr:deviceId}',
      );
  }
}

function checkName(whole: string, name: string): void {
  if (name.startsWith('tag:')) {
    if (!isTagName(name.slice(4))) throw usage(`${whole} does not name a tag`, `a name is ${tagNameWords}`);
  } else if (!Object.hasOwn(fields, name))
    throw usage(`a template has no field ${whole}`, `its fields are: ${fieldNames.join(', ')}, tag:NAME`);
}

/** Characters. The longest text of the interface has 200; a server could send more. */
const longest = 200;

/** The value of a device; empty if it has none. Throws a refusal if the role may not see the code, a fault if the text is too long. */
export function textIn(device: LabelDevice, { name, most }: Placeholder): string {
  const value = fieldOf(device, name);
  if (name === 'activationCode' && typeof value !== 'string')
    throw new ServerRefusal(
      Code.noPermission,
      `the activation code of ${device.deviceId} is not visible to your role, and the template prints it`,
    );
  if (name === 'pin' && value === undefined)
    throw usage('only the letter of a PIN prints {pin}', 'use devmgr keys letter, or keys issue --pin random');
  const text = value === null || value === undefined ? '' : String(value);
  const characters = [...text];
  if (characters.length > longest) throw failure(`${name} has more than ${longest} characters`);
  return most === null || characters.length <= most
    ? text
    : `${characters.slice(0, Math.max(0, most - 3)).join('')}...`;
}

/** A person without a known name is named by the user id. */
function fieldOf(device: LabelDevice, name: string): unknown {
  if (name.startsWith('tag:')) return tagOf(device, name.slice(4));
  return name === 'name' ? device.name || device.userId : device[fields[name]!];
}

const tagOf = ({ tags }: { readonly tags?: LabelDevice['tags'] }, name: string): unknown =>
  tags && Object.hasOwn(tags, name) ? tags[name] : null;
