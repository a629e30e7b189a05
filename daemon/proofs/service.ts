import { ApiError, Code, inputError } from '../../src/contract/codes.ts';
import { deviceIds } from '../../src/contract/ids.ts';
import { proofBounds } from '../../src/contract/limits.ts';
import type { Body, Data } from '../../src/contract/routes.ts';
import { TimeSlice } from '../base/concurrency.ts';
import { iso } from '../base/time.ts';
import { type DeviceDecision, prove } from '../devices/decisions.ts';
import { gradeOf, storedProof } from '../devices/proof.ts';
import type { DeviceRecord, DeviceRow } from '../devices/records.ts';
import {
  type Context,
  commitFor,
  commitLast,
  holderOf,
  nameOf,
  retrying,
  Service,
  type ServiceParts,
} from '../requests/context.ts';
import { type Change, Conflict } from '../store/commit.ts';
import type { Challenge, Challenges } from './challenges.ts';
import type { Trust, Verdict } from './judge/types.ts';
import { digestOf, judgeAnswer, judgedNow, proofEntry, proofText, type UnjudgedProof } from './judging.ts';
import type { ProofPolicies } from './policies.ts';
import type { ProofRecord } from './records.ts';
import type { TrustedRoots } from './trusted.ts';

/** Dependencies of the service. */
interface ProofServiceParts extends ServiceParts {
  readonly challenges: Challenges;
  readonly roots: TrustedRoots;
  readonly policies: Pick<ProofPolicies, 'method'>;
  /** Id of the instance, which keys sign. */
  readonly registryId: string;
}

/** Grades that a device with an answer can have. */
const ANSWERED = ['claimed', 'model', 'unit', 'failed'] as const;
/** Devices whose new verdicts are one commit. */
const COMMITTED_TOGETHER = 50;

/** Challenges, their answers, and what is judged again. */
export class ProofService extends Service<ProofServiceParts> {
  async challenge(context: Context): Promise<Data<'createProofChallenge'>> {
    const { challenges, policies, registryId } = this.parts;
    const made = challenges.create(holderOf(context.caller), this.now());
    return {
      proofId: made.proofId,
      challenge: made.challenge.toString('base64url'),
      registryId,
      ephemeralPublicKey: made.ephemeralPublicKey.toString('base64url'),
      expiresAt: iso(made.expiresAt),
      method: await policies.method(),
    };
  }

  /** Refuses with 1001 a challenge that has expired, was answered before or belongs to another caller, and with 404 any other id. */
  async submit(context: Context, proofId: string, body: Body<'submitProof'>): Promise<Data<'submitProof'>> {
    const challenge = this.parts.challenges.open(proofId, holderOf(context.caller), this.now());
    return retrying(() => this.#submit(context, challenge, body));
  }

  async #submit(context: Context, challenge: Challenge, body: Body<'submitProof'>): Promise<Data<'submitProof'>> {
    if (await this.store.proof(challenge.proofId))
      throw inputError('proofId', ': this challenge was answered before; request another one');
    const device = await this.#registered(body.serialNumber);
    const at = this.now();
    const answer = this.#answer(context, challenge, body, device, at);
    const { evidenceDigest: digest } = answer;
    const isReplayed = digest !== null && (await this.store.hasEvidence(digest, answer.proofId));
    const verdict = judgeAnswer(answer, { trust: await this.parts.roots.current(), now: at, isReplayed });
    const text = proofText(answer, verdict);
    const { changes, guards } = changesFor(answer, text, device, body.forReceipt ?? false);
    return commitLast(this.store, context, { at, changes, guards }, () => resultOf(body.serialNumber, device, verdict));
  }

  async #registered(serialNumber: string): Promise<DeviceRecord | null> {
    const found = (await this.store.devicesBySerial([serialNumber])).get(serialNumber);
    return found ? this.store.device(found.number) : null;
  }

  #answer(
    context: Context,
    challenge: Challenge,
    body: Body<'submitProof'>,
    device: DeviceRecord | null,
    at: number,
  ): UnjudgedProof {
    const { claims, evidence = null } = body;
    if (evidence === null && Object.keys(claims).length === 0)
      throw new ApiError(Code.parameterError, 'claims or evidence is required');
    const described = device ?? { manufacturer: body.manufacturer, model: body.model };
    return {
      proofId: challenge.proofId,
      serialNumber: body.serialNumber,
      createdAt: at,
      receivedBy: nameOf(context.caller),
      registryId: this.parts.registryId,
      challenge: challenge.challenge.toString('base64url'),
      ephemeralKey: challenge.ephemeralPrivateKey.toString('base64url'),
      described: [described.manufacturer, described.model].filter(Boolean).join(' ') || null,
      claims: JSON.stringify(claims),
      evidence: evidence && JSON.stringify(evidence),
      evidenceDigest: digestOf(evidence),
    };
  }

  /** Judges one portion of the devices. Devices only join the list, so a portion may repeat some but leaves out none. */
  async judgeAgain(context: Context, after: number): Promise<Data<'judgeProofsAgain'>> {
    const limit = proofBounds.judgedAtOnce;
    const query = { proof: ANSWERED, sortBy: 'deviceId', descending: false, offset: after, limit } as const;
    const [{ rows, total }, trust] = await Promise.all([this.store.devices(query), this.parts.roots.current()]);
    const done = { judged: 0, changed: 0 };
    for (let first = 0; first < rows.length; first += COMMITTED_TOGETHER) {
      const part = rows.slice(first, first + COMMITTED_TOGETHER);
      const { judged, decisions } = await this.#judgeRows(part, trust);
      done.judged += judged;
      done.changed += await this.#commitVerdicts(context, decisions);
    }
    const end = after + rows.length;
    const result = { ...done, next: end < total && rows.length > 0 ? end : null };
    const entry = { type: 'PROOFS_JUDGED_AGAIN', detail: { after, ...result } } as const;
    const change = { kind: 'journal.add', entry, device: null, subject: null } as const;
    return commitLast(this.store, context, { at: this.now(), changes: [change] }, () => result);
  }

  async #judgeRows(rows: readonly DeviceRow[], trust: Trust) {
    const slice = new TimeSlice();
    const decisions: DeviceDecision[] = [];
    let judged = 0;
    for (const row of rows) {
      const before = row.proof === null ? null : storedProof(row.proof);
      const answer = before?.hasEvidence ? await this.store.proof(before.proofId) : null;
      if (!before || !answer) continue;
      judged++;
      const text = judgedNow(answer, { trust, now: this.now() });
      if (text !== row.proof) decisions.push(prove(row, text, proofEntry('DEVICE_JUDGED_AGAIN', answer, text)));
      if (slice.over) await slice.pass();
    }
    return { judged, decisions };
  }

  /** A device that was changed since it was read keeps what it has: it was proved a moment ago, or is judged the next time. */
  async #commitVerdicts(context: Context, decisions: readonly DeviceDecision[]): Promise<number> {
    if (decisions.length === 0) return 0;
    const changes = decisions.map(({ change }) => change);
    const guards = decisions.flatMap(one => one.guards);
    try {
      await commitFor(this.store, context, { at: this.now(), changes, guards });
      return changes.length;
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      if (decisions.length === 1) return 0;
      let changed = 0;
      for (const decision of decisions) changed += await this.#commitVerdicts(context, [decision]);
      return changed;
    }
  }
}

/** Claims alone do not replace a verdict that follows from evidence, and a credential for receipts does not replace a good one. */
function changesFor(
  answer: UnjudgedProof,
  text: string,
  device: DeviceRecord | null,
  forReceipt: boolean,
): { readonly changes: readonly Change[]; readonly guards: DeviceDecision['guards'] } {
  const proof: ProofRecord = { ...answer, proof: text };
  const before = device?.proof ? storedProof(device.proof) : null;
  const isGood = before?.proof.grade === 'model' || before?.proof.grade === 'unit';
  const keeps =
    before !== null && (answer.evidence === null ? before.hasEvidence : forReceipt && isGood && !isFailed(text));
  const entry = proofEntry(device && !keeps ? 'DEVICE_PROVED' : 'PROOF_RECEIVED', answer, text);
  if (!device || keeps)
    return { changes: [{ kind: 'proof.add', proof, isRegistered: device !== null, entry }], guards: [] };
  const { change, guards } = prove(device, text, entry);
  return { changes: [{ kind: 'proof.add', proof, isRegistered: true, entry: null }, change], guards };
}

const isFailed = (proof: string): boolean => gradeOf(proof) === 'failed';

const resultOf = (
  serialNumber: string,
  device: DeviceRecord | null,
  { proof, rule, reason }: Verdict,
): Data<'submitProof'> => ({
  serialNumber,
  deviceId: device && deviceIds.format(device.number),
  proof,
  rule,
  reason,
});
