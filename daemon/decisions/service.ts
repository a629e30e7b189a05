import { ApiError, Code, type InputProblem } from '../../src/contract/codes.ts';
import { keyNames } from '../../src/contract/decisions.ts';
import { deviceIds, personIds } from '../../src/contract/ids.ts';
import { decisionBounds } from '../../src/contract/limits.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { sshKeyIn } from '../../src/contract/ssh-key.ts';
import type { SteadyClock } from '../base/steady-clock.ts';
import { iso } from '../base/time.ts';
import { use } from '../devices/decisions.ts';
import type { CredentialFinder, OwnerJudge, ProofJudge, SshKeyFinder } from '../devices/judges.ts';
import type { DeviceRecord } from '../devices/records.ts';
import {
  accept,
  type Context,
  commitFor,
  holderOf,
  retrying,
  Service,
  type ServiceParts,
} from '../requests/context.ts';
import type { RequestLimits } from '../requests/limiter.ts';
import type { Store } from '../store/store.ts';
import { reasonOf } from './verdict.ts';

/** Dependencies of the service. Absent judges forbid nothing. */
interface DecisionParts
  extends ServiceParts<Pick<Store, 'commit' | 'devices' | 'devicesNumbered' | 'devicesWithSerial'>> {
  readonly limiter: Pick<RequestLimits, 'countHere' | 'giveBack'>;
  readonly finders: readonly CredentialFinder[];
  /** Absent: no key is known by an SSH key. */
  readonly sshKeys: SshKeyFinder | undefined;
  readonly owners: OwnerJudge | undefined;
  readonly proofs: ProofJudge | undefined;
  readonly clock: SteadyClock;
}

type Question = Body<'decide'>['questions'][number];
type Decision = Data<'decide'>['decisions'][number];

/** Decides whether keys may be used. Reads what is stored at each request: an answer is as recent as the request. */
export class DecisionService extends Service<DecisionParts> {
  async decide(context: Context, { questions, advisories }: Body<'decide'>): Promise<Data<'decide'>> {
    demandOneName(questions);
    const { caller } = context;
    const begunAt = this.parts.clock.now();
    const answers = await retrying(async () => {
      // Read before the keys, whose time of reading it would otherwise show.
      const until = this.#until();
      const devices = await this.#devicesOf(questions);
      const decided = await this.#decided(devices, advisories, until);
      if (caller.serviceToken?.may.includes('record-use'))
        await this.#recordUse(
          context,
          devices.filter((_, at) => decided[at]!.allowed),
        );
      return decided;
    });
    if (!caller.serviceToken) return { decisions: answers };
    const holder = holderOf(caller);
    const decisions = answers.map(one => (one.allowed || !this.#isSearch(one, holder) ? one : unknownKey(one.until)));
    if (decisions.some((one, at) => one !== answers[at]))
      await this.parts.clock.reach(hiddenAnswerAt(begunAt, this.parts.clock.now()));
    return { decisions };
  }

  /** The SSH keys of a user that `decide` allows. */
  async sshKeysOf(userName: string): Promise<Data<'listSshKeys'>> {
    const { sshKeys } = this.parts;
    if (!sshKeys) return { keys: [] };
    const window = { descending: false, offset: 0, limit: decisionBounds.devices };
    const query = { userId: userName, status: ['ACTIVE' as const], sortBy: 'deviceId' as const, ...window };
    const numbers = (await this.store.devices(query)).rows.map(({ number }) => number);
    const found = numbers.length > 0 ? await this.store.devicesNumbered(numbers) : new Map<number, DeviceRecord>();
    const devices = numbers.flatMap(number => found.get(number) ?? []);
    const decided = await this.#decided(devices, undefined, this.#until());
    const allowed = devices.filter((_, at) => decided[at]!.allowed);
    const keys = allowed.map(async ({ number }) => {
      const deviceId = deviceIds.format(number);
      return (await sshKeys.keysOf(number)).map(one => ({ ...one, deviceId }));
    });
    return { keys: (await Promise.all(keys)).flat() };
  }

  /** Rejects with a `Conflict` if a device is no longer ACTIVE: then the decision is made again. */
  async #recordUse(context: Context, devices: readonly (DeviceRecord | null)[]): Promise<void> {
    const uses = devices.flatMap(device => (device ? accept(use(device, 0)) : []));
    if (uses.length === 0) return;
    const changes = uses.map(({ change }) => change);
    await commitFor(this.store, context, { at: this.now(), changes, guards: uses.flatMap(({ guards }) => guards) });
  }

  #until(): string {
    return iso(this.now() + 1000 * decisionBounds.seconds);
  }

  async #decided(
    devices: readonly (DeviceRecord | null)[],
    advisories: Body<'decide'>['advisories'],
    until: string,
  ): Promise<Decision[]> {
    const { owners, proofs } = this.parts;
    const persons = new Set(devices.flatMap(device => device?.person ?? []));
    const [left, meets] = await Promise.all([owners?.leftAmong([...persons]), proofs?.standing()]);
    return devices.map((device): Decision => {
      if (!device) return unknownKey(until);
      const { number, person, proof } = device;
      const hasLeft = person !== null && (left?.has(person) ?? false);
      const reason = reasonOf(device, { hasLeft, meetsPolicy: meets?.(proof) ?? true });
      const allowed = reason === 'active' || (reason === 'advisory' && advisories !== 'refuse');
      const personId = person === null ? null : personIds.format(person);
      return { allowed, deviceId: deviceIds.format(number), personId, reason, until };
    });
  }

  /** Whether a service token has asked for too many unknown keys: it then does not learn which other keys exist. */
  #isSearch({ reason }: Decision, holder: string): boolean {
    const counted = this.parts.limiter.countHere('unknownKey', holder);
    if (counted?.allowed && reason !== 'unknown') this.parts.limiter.giveBack('unknownKey', holder);
    return counted?.allowed === false;
  }

  /** The device of each question; null if no device, or not exactly one, has the key. */
  async #devicesOf(questions: readonly Question[]): Promise<(DeviceRecord | null)[]> {
    const { finders, sshKeys } = this.parts;
    const serials = textsIn(questions, 'serialNumber');
    const ids = textsIn(questions, 'credentialId');
    const keys = textsIn(questions, 'sshKey').map(sshKeyIn);
    const [bySerial, ...found] = await Promise.all([
      serials.length > 0 ? this.store.devicesWithSerial(serials) : new Map<string, DeviceRecord>(),
      keys.length > 0 ? (sshKeys?.devicesWith(keys) ?? []) : [],
      ...(ids.length > 0 ? finders : []).map(finder => finder.devicesWith(ids)),
    ]);
    const byCredential = Map.groupBy(found.flat(), ([id]) => id);
    const numbers = new Set(found.flat().map(([, device]) => device));
    const byNumber =
      numbers.size > 0 ? await this.store.devicesNumbered([...numbers]) : new Map<number, DeviceRecord>();
    return questions.map(({ serialNumber, credentialId, sshKey }) => {
      if (serialNumber) return bySerial.get(serialNumber) ?? null;
      const name = credentialId ?? (sshKey ? sshKeyIn(sshKey) : '');
      const named = new Set(byCredential.get(name)?.map(([, device]) => device));
      const [number, ...others] = named;
      return number === undefined || others.length > 0 ? null : (byNumber.get(number) ?? null);
    });
  }
}

/** Far longer than it takes to read 100 keys. */
const HIDDEN_ANSWER_MS = 50;
/** When an answer that hides a reason is sent: it takes longer to read a key that exists than one that does not. */
const hiddenAnswerAt = (begunAt: number, now: number): number =>
  begunAt + HIDDEN_ANSWER_MS * Math.max(1, Math.ceil((now - begunAt) / HIDDEN_ANSWER_MS));

const unknownKey = (until: string): Decision => ({
  allowed: false,
  deviceId: null,
  personId: null,
  reason: 'unknown',
  until,
});

const textsIn = (questions: readonly Question[], name: keyof Question): string[] => [
  ...new Set(questions.flatMap(question => question[name] ?? [])),
];

const names = Object.keys(keyNames) as (keyof Question)[];

/** Refuses with 1001 questions that have no name of a key, or several. */
function demandOneName(questions: readonly Question[]): void {
  const reason = `must have exactly one of ${names.join(', ')}`;
  const wrong = questions.flatMap((question, index): InputProblem[] =>
    names.filter(name => (question[name] ?? null) !== null).length === 1
      ? []
      : [{ field: `questions[${index}]`, reason }],
  );
  if (wrong.length > 0) throw new ApiError(Code.parameterError, `${wrong[0]!.field} ${reason}`, null, wrong);
}
