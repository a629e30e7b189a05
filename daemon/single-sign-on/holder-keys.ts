/** Sign-ins with a key alone of people with the role HOLDER: without the provider, as long as the registry knows the key as theirs. */

import { randomBytes } from 'node:crypto';
import { ApiError, Code } from '../../src/contract/codes.ts';
import { tokenSeconds } from '../../src/contract/limits.ts';
import { isOfProvider, unchanged } from '../accounts/user.ts';
import type { IssuedKeyFinder } from '../devices/judges.ts';
import type { UserRecord } from '../requests/callers.ts';
import { retrying, Service, type ServiceParts } from '../requests/context.ts';
import type { KeyJudge, PersonFinder } from '../sign-in/judges.ts';
import { type PasskeyRecord, passkeysUnchanged } from '../sign-in/passkey.ts';
import { keyOfSession, SESSIONS, versionOfSession } from '../store/caller.ts';
import type { Guard } from '../store/commit.ts';
import type { SsoAccounts } from './accounts.ts';
import * as domain from './records.ts';
import type { SsoSessions } from './sessions.ts';
import { isHere, type SsoSettingsService } from './settings.ts';

/** Dependencies. `persons`, `issued`: undefined in a registry without them. */
interface HolderKeyParts extends ServiceParts {
  readonly settings: SsoSettingsService;
  readonly accounts: SsoAccounts;
  readonly sessions: SsoSessions;
  readonly persons: () => PersonFinder | undefined;
  readonly issued: () => IssuedKeyFinder | undefined;
}

/** A key that may sign in, and what a commit demands for that. */
interface AdmittedKey {
  readonly config: domain.SsoConfig;
  /** The version of `SESSIONS`. */
  readonly version: number;
  readonly key: PasskeyRecord;
  readonly guards: readonly Guard[];
}

/** A refusal is thrown as an `ApiError`. */
export class HolderKeys extends Service<HolderKeyParts> implements KeyJudge {
  async admitKey(user: UserRecord, credentialId: string, address: string): Promise<string | undefined> {
    if (isOfProvider(user)) return this.#open(user, credentialId, address);
    await this.parts.settings.demandLocal(user, address);
    return undefined;
  }

  /** Refuses with 1004 a session that has ended. One that a key has opened is judged at each request. */
  async check(user: number, id: string): Promise<void> {
    const key = keyOfSession(id);
    if (key === null) return this.parts.sessions.check(user, id);
    const { session } = await this.parts.sessions.find(user, id);
    const record = await this.store.user(user);
    const admitted = await this.#admitted(record, ({ number }) => number === key);
    // The limits of local accounts may have changed.
    if (!admitted || domain.localRefusal(admitted.config, record!.username, session.isHere ?? false) !== null)
      throw new ApiError(Code.tokenInvalid, 'the key of this session no longer signs in; sign in again');
  }

  #open(user: UserRecord, credentialId: string, address: string): Promise<string> {
    const { settings, accounts } = this.parts;
    return retrying(async () => {
      const current = await this.store.user(user.number);
      const admitted = await this.#admitted(current, key => key.credentialId === credentialId);
      // One message for every reason.
      if (!admitted || current?.tokenEpoch !== user.tokenEpoch)
        throw new ApiError(Code.noPermission, 'this account signs in at the provider of single sign-on');
      const { config, version, key, guards } = admitted;
      settings.demandPlace(config, user, address);
      const at = this.now();
      const id = domain.keySessionId(version, randomBytes(16).toString('base64url'), key.number);
      const times = { checkedAt: at, confirmedAt: at, endsAt: at + tokenSeconds * 1000 };
      const session = {
        id,
        provider: domain.providerOf(config),
        sid: null,
        sealed: '',
        ...times,
        isHere: isHere(address),
      };
      const row = (await this.store.ssoSessions(user.number)) ?? { number: user.number, version: 0, sessions: [] };
      const open = row.sessions.filter(one => versionOfSession(one.id) === version);
      await accounts.commit([domain.setSessions(row, [...open, session], at)], guards);
      return id;
    });
  }

  /**
   * Null unless holders are let in, and the key was issued for an ACTIVE device of the active person who has signed in with this account,
   * and last with no other, at the provider of the settings.
   */
  async #admitted(user: UserRecord | null, isIt: (key: PasskeyRecord) => boolean): Promise<AdmittedKey | null> {
    const { settings, accounts } = this.parts;
    const [persons, issued] = [this.parts.persons(), this.parts.issued()];
    const version = await this.store.documentVersion(SESSIONS);
    const { config } = await settings.read();
    if (!persons || !issued || !config?.holders || user?.role !== 'HOLDER' || user.disabled) return null;
    const keys = await this.store.passkeysOf(user.number);
    const key = keys.find(isIt);
    const claimed = await accounts.claimedBy(user, config.issuer);
    const person = claimed && (await persons.numbered(claimed.person));
    if (!claimed || !key || !person?.active) return null;
    const number = await issued.deviceOf(key);
    const device = number === null ? null : await this.store.device(number);
    if (device?.status !== 'ACTIVE' || device.person !== person.number) return null;
    const guards: Guard[] = [
      unchanged(user),
      passkeysUnchanged(user.number, keys),
      persons.presence(person),
      claimed.guard,
      { kind: 'device', device: device.number, status: ['ACTIVE'], fields: { person: person.number } },
      { kind: 'document', name: SESSIONS, version },
    ];
    return { config, version, key, guards };
  }
}
