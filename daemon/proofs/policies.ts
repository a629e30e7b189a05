/** Proof that a key needs to be registered. */
import { Code } from '../../src/contract/codes.ts';
import type { Registration } from '../../src/contract/devices.ts';
import { hourMs } from '../../src/contract/durations.ts';
import type { IdentityPolicy } from '../../src/contract/key-values.ts';
import { proofBounds } from '../../src/contract/limits.ts';
import type { ProofPolicy } from '../../src/contract/proof.ts';
import { TimeSlice } from '../base/concurrency.ts';
import { Refusal } from '../base/decision.ts';
import type { Admission, ProofJudge } from '../devices/judges.ts';
import { shownProof, storedProof } from '../devices/proof.ts';
import { type Context, commitLast, idOf, retrying, Service, type ServiceParts } from '../requests/context.ts';
import { Conflict } from '../store/commit.ts';
import { replace, type SettingsRecord, settingsIn } from '../store/document.ts';
import { checkPolicy, identityRefusal } from './judge/policy.ts';
import { provedFacts } from './judge/proved-facts.ts';
import { judgedNow } from './judging.ts';
import type { LatestProof } from './records.ts';
import type { TrustedRoots } from './trusted.ts';

const NAME = 'proof-policy';

/** Requires nothing: the policy before one is set. */
const noPolicy: ProofPolicy = { requiredGrade: 'none', allowedAaguids: [], leastFirmware: [] };

/** Dependencies of the policy. */
interface ProofPolicyParts extends ServiceParts {
  readonly roots: Pick<TrustedRoots, 'current'>;
}

/** The policy of the registry. */
export class ProofPolicies extends Service<ProofPolicyParts> implements ProofJudge {
  /** The policy as it was last read for a registration; the guard of its version shows whether it still holds. */
  #known: SettingsRecord<ProofPolicy> | null = null;

  constructor(parts: ProofPolicyParts) {
    super(parts);
    // Another server may have lost a policy, and give its version to another one.
    parts.store.onCommit(({ everything }) => {
      if (everything) this.#known = null;
    });
  }

  async show(): Promise<ProofPolicy> {
    return (await this.#read()).config;
  }

  async identityPolicy(): Promise<IdentityPolicy> {
    return (await this.show()).identity ?? 'where-needed';
  }

  async standing(): Promise<(proof: string | null) => boolean> {
    const policy = await this.show();
    return text => checkPolicy(policy, provedFacts(shownProof(text))) === null;
  }

  /** How a new key has to be asked: see `method` of a challenge. */
  async method(): Promise<'fido' | null> {
    return (await this.show()).allowedAaguids.length > 0 ? 'fido' : null;
  }

  async set(context: Context, policy: ProofPolicy): Promise<ProofPolicy> {
    return retrying(async () => {
      const { config: before, version } = await this.#read();
      const entry = { type: 'PROOF_POLICY_SET', detail: { before, after: policy, madeBy: idOf(context) } } as const;
      const change = replace({ name: NAME, version }, JSON.stringify(policy), entry);
      return commitLast(this.store, context, { at: this.now(), changes: [change] }, () => policy);
    });
  }

  /** Runs a registration, again if the policy was changed before the commit. */
  admitting<T>(registrations: readonly Registration[], attempt: (admission: Admission) => Promise<T>): Promise<T> {
    const assumed = this.#assumed(registrations);
    const afterReads = () => retrying(async () => attempt(await this.#admission(registrations)));
    if (!assumed) return afterReads();
    return attempt(assumed).catch(error => {
      if (error instanceof Conflict) return afterReads();
      throw error;
    });
  }

  /**
   * Registers one key without a proof under the policy in memory, which is the case of most registrations. Null if the
   * registration has to read the policy or an answer.
   */
  #assumed(registrations: readonly Registration[]): Admission | null {
    const [registration] = registrations;
    if (!this.#known || !registration || registrations.length > 1) return null;
    const { config: policy, version } = this.#known;
    const result = judged(registration, policy, null);
    if (result instanceof Refusal) return null;
    const { serialNumber } = registration;
    return {
      guards: [
        { kind: 'document', name: NAME, version },
        { kind: 'unanswered', serialNumber },
      ],
      judge: () => result,
    };
  }

  async #admission(registrations: readonly Registration[]): Promise<Admission> {
    const serials = registrations.map(({ serialNumber }) => serialNumber);
    const [known, latest] = await Promise.all([this.#read(), this.store.latestProofs(serials)]);
    this.#known = known;
    const { config: policy, version } = known;
    const since = this.now() - hourMs * proofBounds.unregisteredHours;
    const answers = await this.#judgedNow([...latest.values()].filter(({ createdAt }) => createdAt >= since));
    return {
      guards: [{ kind: 'document', name: NAME, version }],
      judge: registration => judged(registration, policy, answers.get(registration.serialNumber) ?? null),
    };
  }

  /** The latest answers by serial number, each judged again: a certificate that was trusted at the answer may be revoked. */
  async #judgedNow(answers: readonly LatestProof[]): Promise<ReadonlyMap<string, LatestProof>> {
    const found = new Map(answers.map(answer => [answer.serialNumber, answer]));
    const slice = new TimeSlice();
    for (const answer of answers) {
      const record = storedProof(answer.proof).hasEvidence ? await this.store.proof(answer.proofId) : null;
      if (!record) continue;
      const trust = await this.parts.roots.current();
      found.set(answer.serialNumber, { ...answer, proof: judgedNow(record, { trust, now: this.now() }) });
      if (slice.over) await slice.pass();
    }
    return found;
  }

  async #read(): Promise<SettingsRecord<ProofPolicy>> {
    return settingsIn(await this.store.document(NAME), noPolicy);
  }
}

function judged(
  registration: Registration,
  policy: ProofPolicy,
  latest: LatestProof | null,
): ReturnType<Admission['judge']> {
  const { serialNumber, proofId } = registration;
  if (proofId && latest?.proofId !== proofId)
    return new Refusal(
      Code.parameterError,
      latest
        ? `the last answer for ${serialNumber} has another proofId`
        : `proofId: no answer for ${serialNumber} was received with it`,
    );
  const proof = latest && storedProof(latest.proof).proof;
  const broken = checkPolicy(policy, provedFacts(proof)) ?? identityRefusal(policy, registration);
  if (broken) return new Refusal(Code.parameterError, `proof (${broken.rule}): ${broken.message}`);
  return { proof: latest?.proof ?? null };
}
