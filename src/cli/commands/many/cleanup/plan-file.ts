/** The file of a plan: a line of JSON that shows what is to be done, and one line for each device as it was. */
import { existsSync, statSync } from 'node:fs';
import { isObject, objectIn } from '../../../../contract/json-object.ts';
import {
  maxPlanned,
  type PlanAction,
  type PlannedDevice,
  planActions,
  plannedFields,
} from '../../../../fleet/cleanup.ts';
import { eachLine, type Line, TooLong } from '../../../../tables/text.ts';
import { usage } from '../../../fault.ts';
import { inputText, unreadable } from '../../../jobs/input-file.ts';
import { writeWhole } from '../../../settings/files.ts';
import { safeJson } from '../../../terminal/text.ts';

const kind = 'devmgr cleanup';
/** The name of the commands in earlier versions, whose plans are still carried out. */
const earlierKind = 'devmgr janitor';
const version = 1;

/** Action of a plan, with the registry of its devices. */
interface Header {
  /** The instanceId of the server; null if it has none. */
  readonly registry: string | null;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly action: PlanAction;
  /** For the journal. */
  readonly reason: string;
  /** The filters that selected the devices, as the query of an export. */
  readonly criteria: Readonly<Record<string, string | readonly string[]>>;
}

export interface Plan extends Header {
  readonly devices: readonly PlannedDevice[];
}

/** Throws a usage fault if the file exists: a plan that a person has checked is not replaced. */
export function checkPlanFile(file: string): void {
  if (existsSync(file)) throw usage(`${file} exists`, 'name another file with --out');
}

/** Returns when the plan is on the disk. */
export function writePlan(file: string, { devices, ...header }: Plan): void {
  const lines = [{ plan: kind, version, ...header }, ...devices].map(line => `${safeJson(line)}\n`);
  writeWhole(file, lines.join(''), { durable: true, hint: 'name another file with --out' });
}

/** Throws a usage fault if the file is not a plan, or one of a later version. */
export async function readPlan(file: string): Promise<Plan> {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw usage(`${file} ${stat ? 'is not a file' : 'does not exist'}`, makeOne);
  const foreign = () => usage(`${file} is not a plan of devmgr cleanup`, makeOne);
  let header: Header | null = null;
  const devices: PlannedDevice[] = [];
  for await (const { line, text } of linesOf(file, foreign)) {
    const broken = () => usage(`${file}, line ${line}: it is not a device of a plan, or it is incomplete`, makeOne);
    if (header === null) header = headerOf(file, parsed(text, foreign), foreign);
    else devices.push(deviceOf(parsed(text, broken), broken));
    if (devices.length > maxPlanned) throw usage(`${file} has more than ${maxPlanned} devices`, makeOne);
  }
  if (header === null) throw foreign();
  return { ...header, devices };
}

/** An editor may have added a byte order mark. */
async function* linesOf(file: string, foreign: () => Error): AsyncGenerator<Line> {
  const refuse = (fault: Error) => {
    throw fault;
  };
  try {
    yield* eachLine(inputText({ file, stdin: process.stdin, encoding: null }, refuse));
  } catch (error) {
    throw error instanceof TooLong ? foreign() : unreadable(file, error);
  }
}

function parsed(text: string, broken: () => Error): Fields {
  const record = objectIn(text);
  if (record === null) throw broken();
  return record;
}

const makeOne = 'make a plan: devmgr cleanup plan --help';

type Fields = Readonly<Record<string, unknown>>;

function headerOf(file: string, record: Fields, foreign: () => Error): Header {
  const { plan, version: written, registry, createdAt, action, reason, criteria } = record;
  if (plan !== kind && plan !== earlierKind) throw foreign();
  if (written !== version) throw usage(`${file} was made by another version of devmgr`, makeOne);
  if (
    (registry !== null && typeof registry !== 'string') ||
    typeof createdAt !== 'string' ||
    typeof reason !== 'string' ||
    !planActions.includes(action as PlanAction) ||
    !isCriteria(criteria)
  )
    throw foreign();
  return { registry, createdAt, action: action as PlanAction, reason, criteria };
}

function isCriteria(value: unknown): value is Header['criteria'] {
  if (!isObject(value)) return false;
  const isText = (part: unknown) => typeof part === 'string';
  return Object.values(value).every(part => isText(part) || (Array.isArray(part) && part.every(isText)));
}

function deviceOf(record: Fields, foreign: () => Error): PlannedDevice {
  const { deviceId } = record;
  const isKnown = plannedFields.every(field => record[field] === null || typeof record[field] === 'string');
  if (typeof deviceId !== 'string' || !isKnown) throw foreign();
  return record as unknown as PlannedDevice;
}
