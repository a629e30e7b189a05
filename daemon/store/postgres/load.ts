/** Reads under the lock what a group of commits needs: separate statements, because each sees what was committed before it began. */
import type { CallerGuard } from '../../domain/caller.ts';
import type { DocumentRecord } from '../../domain/document.ts';
import type { Change, Commit, Guard, ResponseExpire } from '../commit.ts';
import { documentVersions } from './documents.ts';
import { appKey, type Draft } from './draft.ts';
import { answeredIds, answeredSerials } from './proofs.ts';
import { expiredIds, takenIds } from './responses.ts';
import type { Session } from './session.ts';
import { apps, backups, devices, passkeys, serviceTokens, type Table, users } from './tables.ts';
import { progressVersions } from './webhooks.ts';

const kinds = [
  'devices',
  'serials',
  'users',
  'usernames',
  'apps',
  'backups',
  'tokens',
  'tokenNames',
  'passkeys',
  'owners',
  'credentialIds',
  'responses',
  'challenges',
  'unanswered',
  'documents',
  'webhooks',
] as const;

/** What the guards and changes of a group name. */
class Wanted {
  readonly devices = new Set<number>();
  readonly serials = new Set<string>();
  readonly users = new Set<number>();
  readonly usernames = new Set<string>();
  needsAdmins = false;
  readonly apps = new Set<string>();
  readonly backups = new Set<number>();
  readonly tokens = new Set<number>();
  readonly tokenNames = new Set<string>();
  readonly passkeys = new Set<number>();
  /** Users whose keys are all read. */
  readonly owners = new Set<number>();
  readonly credentialIds = new Set<string>();
  readonly responses = new Set<string>();
  readonly challenges = new Set<string>();
  /** Serial numbers that must have no answer. */
  readonly unanswered = new Set<string>();
  readonly documents = new Set<string>();
  readonly webhooks = new Set<number>();
  readonly expiries: ResponseExpire[] = [];

  add({ guards = [], changes, response, caller }: Commit): void {
    if (caller) this.caller(caller);
    if (response) this.responses.add(response.id);
    for (const guard of guards) this.guard(guard);
    for (const change of changes) this.change(change);
  }

  /** Leaves out what is in `other`, and adds the rest to it. */
  leaveOut(other: Wanted): void {
    for (const kind of kinds)
      for (const key of this[kind] as Set<unknown>) {
        const known = other[kind] as Set<unknown>;
        if (known.has(key)) (this[kind] as Set<unknown>).delete(key);
        else known.add(key);
      }
    this.needsAdmins &&= !other.needsAdmins;
    other.needsAdmins ||= this.needsAdmins;
  }

  guard(guard: Guard): void {
    if (guard.kind === 'document') this.documents.add(guard.name);
    else if (guard.kind === 'unanswered') this.unanswered.add(guard.serialNumber);
    else if (guard.kind === 'passkeys') this.owners.add(guard.owner);
    else if (guard.kind === 'device') this.devices.add(guard.device);
    else if (guard.kind === 'user') this.users.add(guard.user);
    else this.needsAdmins = true;
  }

  caller(caller: CallerGuard): void {
    if (caller.kind === 'user') this.users.add(caller.user);
    else this.tokens.add(caller.token);
  }

  change(change: Change): void {
    switch (change.kind) {
      case 'device.add':
        this.serials.add(change.device.serialNumber);
        return;
      case 'device.set':
      case 'device.use':
        this.devices.add(change.device);
        return;
      case 'user.add':
        this.usernames.add(change.user.username);
        return;
      case 'user.set':
        this.users.add(change.user);
        return;
      case 'app.add':
        this.apps.add(appKey(change.app));
        return;
      case 'backup.add':
        this.devices.add(change.backup.device);
        return;
      case 'backup.restore':
        this.backups.add(change.backup);
        return;
      case 'token.add':
        this.tokenNames.add(change.token.name);
        return;
      case 'token.revoke':
      case 'token.use':
        this.tokens.add(change.token);
        return;
      case 'passkey.add':
        this.credentialIds.add(change.passkey.credentialId);
        return;
      case 'passkey.remove':
      case 'passkey.use':
        this.passkeys.add(change.passkey);
        return;
      case 'proof.add':
        this.challenges.add(change.proof.proofId);
        if (!change.isRegistered) this.serials.add(change.proof.serialNumber);
        return;
      case 'document.set':
        this.documents.add(change.name);
        return;
      case 'webhook.progress':
        this.webhooks.add(change.webhook);
        return;
      case 'response.expire':
        this.expiries.push(change);
        return;
      case 'journal.add':
      case 'journal.rotate':
      case 'proof.expire':
      case 'webhook.forget':
        return;
    }
  }
}

/** Fills a draft. */
type Fill = (draft: Draft) => void;

/** The reads of one transaction. */
export class Loading {
  readonly #session: Session;
  readonly #asked = new Wanted();
  readonly #fills: Promise<Fill>[] = [];

  constructor(session: Session) {
    this.#session = session;
  }

  /** Sends the reads for these commits at once, except those that were sent before. */
  send(commits: readonly Commit[]): void {
    const wanted = new Wanted();
    for (const commit of commits) wanted.add(commit);
    wanted.leaveOut(this.#asked);
    const fill = loadRecords(this.#session, wanted);
    // It is awaited later: a connection that fails before must not end the process.
    fill.catch(() => {});
    this.#fills.push(fill);
  }

  /** Resolves with what fills a draft when all reads are answered. Rejects if one of them fails. */
  async answered(): Promise<Fill> {
    const fills = await Promise.all(this.#fills);
    return draft => {
      for (const fill of fills) fill(draft);
    };
  }
}

async function loadRecords(session: Session, wanted: Wanted): Promise<Fill> {
  const fills = await Promise.all([
    found(session, devices, 'number = ANY($1::int8[])', wanted.devices, draft => draft.devices),
    found(session, devices, 'serial_number = ANY($1::text[])', wanted.serials, draft => draft.devices),
    found(session, users, 'number = ANY($1::int8[])', wanted.users, draft => draft.users),
    found(session, users, 'username = ANY($1::text[])', wanted.usernames, draft => draft.users),
    found(session, users, `role = 'ADMIN' AND NOT disabled AND $1`, wanted.needsAdmins, draft => draft.users),
    // Few versions exist, and no array can hold their keys.
    found(
      session,
      apps,
      `platform || E'\\n' || version || E'\\n' || extension = ANY($1::text[])`,
      wanted.apps,
      draft => draft.apps,
    ),
    found(session, backups, 'number = ANY($1::int8[])', wanted.backups, draft => draft.backups),
    found(session, serviceTokens, 'number = ANY($1::int8[])', wanted.tokens, draft => draft.serviceTokens),
    found(
      session,
      serviceTokens,
      'name = ANY($1::text[]) AND revoked_at IS NULL',
      wanted.tokenNames,
      draft => draft.serviceTokens,
    ),
    found(session, passkeys, 'number = ANY($1::int8[])', wanted.passkeys, draft => draft.passkeys),
    found(session, passkeys, 'owner = ANY($1::int8[]) AND removed_at IS NULL', wanted.owners, draft => draft.passkeys),
    found(session, passkeys, 'credential_id = ANY($1::text[])', wanted.credentialIds, draft => draft.passkeys),
    takenResponses(session, wanted.responses),
    answeredChallenges(session, wanted.challenges),
    answersOf(session, wanted.unanswered),
    presentDocuments(session, wanted.documents),
    presentProgress(session, wanted.webhooks),
    ...wanted.expiries.map(change => expiredResponses(session, change)),
  ]);
  return draft => {
    for (const fill of fills) fill(draft);
  };
}

const nothing: Fill = () => {};

async function takenResponses(session: Session, ids: ReadonlySet<string>): Promise<Fill> {
  if (ids.size === 0) return nothing;
  const { rows } = await session.run(takenIds, [[...ids]]);
  return draft => draft.responses.loadTaken(rows as unknown as { id: string; expiresAt: number }[]);
}

async function answeredChallenges(session: Session, ids: ReadonlySet<string>): Promise<Fill> {
  if (ids.size === 0) return nothing;
  const { rows } = await session.run(answeredIds, [[...ids]]);
  return draft => draft.proofs.loadAnswered(rows.map(({ id }) => id as string));
}

async function answersOf(session: Session, serials: ReadonlySet<string>): Promise<Fill> {
  if (serials.size === 0) return nothing;
  const { rows } = await session.run(answeredSerials, [[...serials]]);
  return draft => draft.proofs.loadSerials(rows.map(({ serial }) => serial as string));
}

async function presentDocuments(session: Session, names: ReadonlySet<string>): Promise<Fill> {
  if (names.size === 0) return nothing;
  const { rows } = await session.run(documentVersions, [[...names]]);
  return draft => draft.documents.load(rows as unknown as Pick<DocumentRecord, 'name' | 'version'>[]);
}

async function presentProgress(session: Session, webhooks: ReadonlySet<number>): Promise<Fill> {
  if (webhooks.size === 0) return nothing;
  const { rows } = await session.run(progressVersions, [[...webhooks]]);
  return draft => draft.webhooks.load(rows as unknown as { number: number; version: number }[]);
}

async function expiredResponses(session: Session, change: ResponseExpire): Promise<Fill> {
  const { rows } = await session.run(expiredIds, [change.until, change.beyond, change.most]);
  return draft =>
    draft.responses.loadExpired(
      change,
      rows.map(({ id }) => id as string),
    );
}

async function found<R>(
  session: Session,
  table: Table<R>,
  condition: string,
  wanted: ReadonlySet<unknown> | boolean,
  of: (draft: Draft) => { load(records: readonly R[]): void },
): Promise<Fill> {
  if (wanted === false || (wanted !== true && wanted.size === 0)) return nothing;
  const value = wanted === true ? true : [...wanted];
  const { rows } = await session.run(`SELECT ${table.columns} FROM ${table.name} WHERE ${condition}`, [value]);
  return draft => of(draft).load(rows.map(row => table.toRecord(row)));
}
