import type { AssertionResponse } from '../../src/contract/webauthn.ts';
import { Refusal } from '../base/decision.ts';
import type { UserRecord } from '../requests/callers.ts';
import { Service, type ServiceParts } from '../requests/context.ts';
import type { RelyingParty } from '../requests/relying-party.ts';
import { Conflict } from '../store/commit.ts';
import { challengeIn } from './client-data.ts';
import { type PasskeyRecord, use } from './passkey.ts';
import type { NamedChallenge, SignedChallenges } from './signed-challenges.ts';
import { ANSWERED_BEFORE, AnswerRefused, checkAssertion, UNKNOWN_CHALLENGE } from './webauthn-library.ts';

/** Purpose of an answer. */
interface AssertionPurpose {
  /** Purpose of a challenge of `SignedChallenges`. */
  readonly purpose: string;
  readonly site: RelyingParty;
  /** Number of the user who must own the key; null if the key chooses the account, and verifies the person. */
  readonly user: number | null;
  readonly requestId: string;
}

/** Dependencies of the check of answers. */
interface AssertionParts extends ServiceParts {
  readonly challenges: SignedChallenges;
}

/** Checks the answers of security keys, and stores each, so that all daemons together accept it once. */
export class Assertions extends Service<AssertionParts> {
  /** The user whose key has answered. Rejects with `AnswerRefused`; `seen` gets the user of the key before that, if it is known. */
  async accept(
    answer: AssertionResponse,
    purpose: AssertionPurpose,
    seen: (user: UserRecord) => void = () => {},
  ): Promise<UserRecord> {
    const answered = await this.parts.challenges.answer(purpose.purpose, challengeIn(answer), this.now());
    const passkey = await this.store.passkeyByCredential(answer.id);
    if (!passkey) throw new AnswerRefused('unknown key');
    const user = await this.store.user(passkey.owner);
    if (user) seen(user);
    this.#checkOwner(answer, passkey, purpose);
    if (!user || user.disabled) throw new AnswerRefused('disabled account');
    if (answered && !answered.isFirst) throw new AnswerRefused(reasonOfRepetition(answered, passkey));
    const challenge = answered?.challenge;
    const { site } = purpose;
    const expected = { site, challenge: challenge?.id ?? null, verified: purpose.user === null };
    const signCount = await checkAssertion(answer, passkey, expected);
    if (!challenge) throw new AnswerRefused(UNKNOWN_CHALLENGE);
    const change = use(passkey, { challenge, signCount, at: this.now() });
    if (change instanceof Refusal) throw new AnswerRefused(change.message);
    await this.#store(change, user, purpose.requestId);
    return user;
  }

  #checkOwner(
    { response: { userHandle = null } }: AssertionResponse,
    passkey: PasskeyRecord,
    { user }: AssertionPurpose,
  ) {
    if (passkey.removedAt !== null) throw new AnswerRefused('removed key');
    if (user !== null && passkey.owner !== user) throw new AnswerRefused('key of another user');
    const handle = this.parts.challenges.userHandle(passkey.owner);
    // A key that has chosen the account must name it; others may leave it out.
    if (userHandle === null ? user === null : userHandle !== handle) throw new AnswerRefused('key of another user');
  }

  async #store(change: Exclude<ReturnType<typeof use>, Refusal>, user: UserRecord, requestId: string): Promise<void> {
    try {
      await this.store.commit({ at: this.now(), actor: user.username, requestId, changes: [change] });
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      throw new AnswerRefused('repeated assertion', { cause: error });
    }
  }
}

/** The journal records whether the same key has answered the challenge. */
const reasonOfRepetition = ({ challenge }: NamedChallenge, { used }: PasskeyRecord): string =>
  used.some(({ id }) => id === challenge.id) ? 'repeated assertion' : ANSWERED_BEFORE;
