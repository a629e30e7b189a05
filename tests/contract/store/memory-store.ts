import type { IdentityRecord } from '../../../daemon/identity/records.ts';
import { isToRemove } from '../../../daemon/issuing/credential.ts';
import { pinIn } from '../../../daemon/issuing/pin.ts';
import type { ReceiptRecord } from '../../../daemon/receipts/records.ts';
import { type ChangeResult, type Commit, StoreFailure } from '../../../daemon/store/commit.ts';
import { subjectKindOf } from '../../../daemon/store/journal.ts';
import type { Window } from '../../../daemon/store/queries.ts';
import type { CommitNotice, Store } from '../../../daemon/store/store.ts';
import { personKey } from '../../../src/contract/person-key.ts';
import { isSshKey } from '../../../src/contract/ssh-key.ts';
import type { OpenedStore } from './fixtures.ts';
import { daysOf, listModel, talliesOf } from './list-model.ts';
import {
  addResponse,
  applyChange,
  type Content,
  checkCaller,
  checkGuard,
  checkResponse,
  empty,
  type Fault,
  holderIn,
  responseOf,
  strongest,
} from './memory-changes.ts';

const turn = () => new Promise(resolve => setImmediate(resolve));

/** State that the handles of one store share. */
interface Shared {
  disk: Content;
  /** Everything that is written waits for what was written before. */
  queue: Promise<unknown>;
  readonly handles: Set<Handle>;
}

interface Handle {
  readonly listeners: Set<(notice: CommitNotice) => void>;
  /** The state of the store as the handle believes it: only a store with a fault believes it. */
  cached: Content | null;
}

/** The contract in a few plain lines, in memory. Tests the suite itself: without faults, and with each one. */
export async function openMemoryStore(fault?: Fault): Promise<OpenedStore> {
  const shared: Shared = { disk: empty(), queue: Promise.resolve(), handles: new Set() };
  const first = memoryStore(shared, fault);
  return {
    store: first,
    reopen: async () => {
      await first.close();
      if (fault === 'forgets at a restart') shared.disk = empty();
      return memoryStore(shared, fault);
    },
    openAnother: async () => memoryStore(shared, fault),
    cleanup: async () => {},
  };
}

function call(listeners: Handle['listeners'], notice: CommitNotice): void {
  for (const listener of listeners) {
    try {
      listener(notice);
    } catch {}
  }
}

function noticeOf(commit: Commit, content: Content, results: readonly ChangeResult[]): CommitNotice {
  const users = commit.changes.flatMap((change, i) => {
    const result = results[i]!;
    if (change.kind === 'user.set') return [change.user];
    return change.kind === 'user.add' && result.kind === 'added' ? [result.number] : [];
  });
  const serviceTokens = commit.changes.flatMap((change, i) => {
    const result = results[i]!;
    if (change.kind === 'token.revoke' || change.kind === 'token.adopt') return [change.token];
    return change.kind === 'token.add' && result.kind === 'added' ? [result.number] : [];
  });
  // An entry of a type that this version does not know may be about any user or token.
  const unknown = commit.changes.flatMap(change =>
    change.kind === 'journal.add' && change.subject !== null && subjectKindOf(change.entry.type) === undefined
      ? [change.subject]
      : [],
  );
  const endsAll = commit.changes.some(change => change.kind === 'document.set' && change.name === 'sso-sessions');
  return {
    lastEventId: content.events.length,
    users: [...users, ...unknown],
    serviceTokens: [...serviceTokens, ...unknown],
    ...(endsAll ? { everything: true } : {}),
  };
}

function memoryStore(shared: Shared, fault: Fault | undefined): Store {
  const handle: Handle = { listeners: new Set(), cached: null };
  const { listeners } = handle;
  shared.handles.add(handle);
  let closed = false;
  const read = () => shared.disk;
  const write = (content: Content) => {
    shared.disk = content;
    handle.cached = content;
  };
  const present = () => {
    if (closed) throw new StoreFailure('the store is closed');
    return fault === 'reads what it wrote itself' ? (handle.cached ?? read()) : read();
  };
  const notify = (commit: Commit, content: Content, results: readonly ChangeResult[]) => {
    const notice = noticeOf(commit, content, results);
    call(listeners, notice);
    if (fault === 'keeps commits from other handles') return;
    const users = fault === 'hides users from other handles' ? [] : notice.users;
    for (const other of shared.handles) if (other !== handle) setImmediate(call, other.listeners, { ...notice, users });
  };
  const apply = async (commit: Commit): Promise<readonly ChangeResult[]> => {
    await turn();
    const content = structuredClone(fault === 'writes over other handles' ? (handle.cached ?? read()) : read());
    if (fault === 'commits without a lock') await turn();
    if (fault === 'shows uncommitted changes') write(content);
    const results: ChangeResult[] = [];
    try {
      checkCaller(fault === 'guards what it wrote itself' ? (handle.cached ?? content) : content, commit, fault);
      checkResponse(content, commit, fault);
      // A store that looks at its guards before it has the lock decides on what others have changed before the lock.
      const guarded = fault === 'guards what it wrote itself' ? (handle.cached ?? content) : content;
      for (const guard of commit.guards ?? []) checkGuard(guarded, guard, fault);
      for (const change of commit.changes) {
        results.push(applyChange(content, change, commit, fault));
        if (results.length % 1000 === 0) await turn();
      }
      addResponse(content, commit, results, fault);
      if (fault === 'stores a response without the changes' && commit.response) {
        write({ ...read(), responses: content.responses });
        return results;
      }
    } catch (error) {
      if (fault === 'keeps part of a refused commit') write(content);
      if (fault === 'a refusal undoes other commits') write(empty());
      throw error;
    }
    if (fault === 'shows entries out of order') {
      shared.disk = { ...content, events: content.events.toSpliced(-2, 1) };
      for (let i = 0; i < 3; i++) await turn();
    }
    if (fault !== 'acknowledges before it writes') write(content);
    else setTimeout(() => write(content), 5);
    if (fault === 'calls listeners after it acknowledges') setImmediate(() => notify(commit, content, results));
    else notify(commit, content, results);
    return results;
  };
  const pageOf = <T extends { number: number; createdAt: number }>(records: readonly T[], window: Window) => {
    const sorted = [...records].sort((a, b) => a.createdAt - b.createdAt || a.number - b.number);
    if (window.descending) sorted.reverse();
    return { rows: sorted.slice(window.offset, window.offset + window.limit), total: sorted.length };
  };
  const hasLeft = (key: string | null) => {
    const named = present().people.filter(({ userKey }) => userKey === key);
    return named.length > 0 && named.every(({ active }) => !active);
  };
  const onTheirWay = (sentBy: number) =>
    present().devices.flatMap(({ number, status, shippedAt, receivedAt }) =>
      status !== 'ACTIVE' || shippedAt === null || receivedAt !== null || shippedAt > sentBy
        ? []
        : [{ number, shippedAt }],
    );
  const unmatched = () =>
    present().devices.flatMap(({ number, userId, userKey, person }) =>
      userId === null || person !== null ? [] : [{ number, userId, userKey }],
    );
  return {
    behind: () => 0,
    eraseFreeSpace: async () => {},
    device: async number => present().devices[number - 1] ?? null,
    devicesNumbered: async numbers => {
      const found = present().devices.filter(({ number }) => numbers.includes(number));
      return new Map(found.map(device => [device.number, device]));
    },
    devicesWithSerial: async serials => {
      const found = present().devices.filter(({ serialNumber }) => serials.includes(serialNumber));
      return new Map(found.map(device => [device.serialNumber, device]));
    },
    devicesBySerial: async serials => {
      const wanted = new Set(serials);
      const found = present().devices.filter(device => wanted.has(device.serialNumber));
      return new Map(found.map(({ serialNumber, number, status, proof }) => [serialNumber, { number, status, proof }]));
    },
    devices: async query => {
      const keyword = fault === 'treats % as a wildcard' ? query.keyword?.replaceAll('%', '') : query.keyword;
      const page = listModel(present().devices, { ...query, keyword }, namesOf(present().people));
      if (fault === 'counts the page instead of the list') return { ...page, total: page.rows.length };
      if (fault !== 'puts nulls first when descending' || !query.descending) return page;
      const { sortBy } = query;
      const isNull = (row: object) => Number((row as Record<string, unknown>)[sortBy] === null);
      return { ...page, rows: [...page.rows].sort((a, b) => isNull(b) - isNull(a)) };
    },
    statistics: async query => {
      const devices = [...present().devices];
      const groups = Map.groupBy(devices, device => `${device.deviceType} ${device.status} ${device.manufacturer}`);
      const hour = 3_600_000;
      const hours = devices.map(device => Math.floor(device.createdAt / hour) * hour).filter(at => at >= query.since);
      return {
        counts: [...groups.values()].map(group => {
          const { deviceType, status, manufacturer } = group[0]!;
          return { deviceType, status, manufacturer, count: group.length };
        }),
        registrations: new Map([...Map.groupBy(hours, at => at)].map(([at, all]) => [at, all.length])),
        tallies: [...talliesOf(devices), ...daysOf(present().events, query.since)],
        codesDue: devices.filter(
          ({ status, activationCodeExpiresAt: at }) => status === 'INACTIVE' && at <= query.codesDueBy,
        ).length,
        codesExpiring: devices.filter(
          ({ status, activationCodeExpiresAt: at }) =>
            status === 'INACTIVE' && at > query.codesExpireAfter && at <= query.codesExpireBy,
        ).length,
        unused: devices.filter(
          ({ status, lastUsedAt, activatedAt }) =>
            status === 'ACTIVE' && (lastUsedAt ?? activatedAt ?? Infinity) < query.unusedSince,
        ).length,
      };
    },
    async *scanDevices(filter, { tagNames, descending = false } = {}) {
      const query = { sortBy: 'deviceId', descending, offset: 0, limit: Number.POSITIVE_INFINITY } as const;
      const { rows } = listModel([...present().devices], { ...query, ...filter }, namesOf(present().people));
      const names = new Set(rows.flatMap(row => Object.keys(row.tags)));
      tagNames?.found([...names].sort().slice(0, tagNames.limit + 1));
      yield rows;
    },
    user: async number => present().users[number - 1] ?? null,
    usersNamed: async name => present().users.filter(({ userKey }) => userKey === personKey(name)),
    userByName: async username => present().users.find(user => user.username === username) ?? null,
    users: async window => pageOf(present().users, window),
    admins: async () => present().users.filter(user => user.role === 'ADMIN' && !user.disabled),
    serviceToken: async number => present().serviceTokens[number - 1] ?? null,
    serviceTokenByDigest: async sha256 => present().serviceTokens.find(token => token.sha256 === sha256) ?? null,
    serviceTokensOf: async owner =>
      present().serviceTokens.filter(token => token.owner === owner && token.revokedAt === null),
    serviceTokens: async window => pageOf(present().serviceTokens, window),
    credential: async number => present().credentials[number - 1] ?? null,
    credentialsOf: async device => present().credentials.filter(one => one.device === device),
    credentialsOfAccount: async (provider, account) =>
      present().credentials.filter(one => one.provider === provider && one.account === account),
    openCredentials: async (after, limit) =>
      present()
        .credentials.filter(one => one.removedAt === null && one.number > after)
        .slice(0, limit)
        .map(one => ({
          number: one.number,
          provider: one.provider,
          due: isToRemove(one, present().devices[one.device - 1]!) ? 1 : 0,
        })),
    issuedCredentials: async ids =>
      present()
        .credentials.filter(one => one.removedAt === null && one.uncertainAt === null && one.issuedAt !== null)
        .filter(one => ids.includes(one.credentialId!))
        .map(({ credentialId, device }) => ({ credentialId: credentialId!, device })),
    issuedSshKeys: async keys =>
      present()
        .credentials.filter(one => one.removedAt === null && one.uncertainAt === null && one.issuedAt !== null)
        .filter(one => keys.includes(one.remoteId!))
        .map(({ remoteId, device }) => ({ sshKey: remoteId!, device })),
    credentialsAt: async (provider, after, limit) =>
      present()
        .credentials.filter(one => one.provider === provider && one.number > after)
        .slice(0, limit),
    passkey: async number => present().passkeys[number - 1] ?? null,
    passkeyByCredential: async id => present().passkeys.find(({ credentialId }) => credentialId === id) ?? null,
    passkeysOf: async user => present().passkeys.filter(({ owner, removedAt }) => owner === user && removedAt === null),
    hadPasskey: async user => present().passkeys.some(({ owner }) => owner === user),
    keyOwners: async users => {
      const owners = present().passkeys.filter(({ removedAt }) => removedAt === null);
      return new Set(owners.map(({ owner }) => owner).filter(owner => users.includes(owner)));
    },
    proofsOf: async serial => present().proofs.filter(({ serialNumber }) => serialNumber === serial),
    receipt: async id => present().receipts.find(({ receiptId }) => receiptId === id) ?? null,
    receiptNumbered: async number => present().receipts[number - 1] ?? null,
    receipts: async ({ device, overdueAt, unannouncedAt, ...window }) => {
      const { receipts, devices } = present();
      const at = (row: ReceiptRecord) => (overdueAt === undefined ? row.announceAt : row.openUntil);
      const until = overdueAt ?? unannouncedAt;
      const isDue = (row: ReceiptRecord) =>
        (at(row) ?? Number.POSITIVE_INFINITY) <= until! && devices[row.device - 1]!.status !== 'DEACTIVATED';
      const found = receipts.filter(
        row => (device === undefined || row.device === device) && (until === undefined || isDue(row)),
      );
      return pageOf(found, window);
    },
    identitiesOf: async device => present().identities.filter(one => one.device === device),
    identityWith: async id => present().identities.find(({ credentialId }) => credentialId === id) ?? null,
    presentIdentities: async ids => {
      const found = present().identities.filter(one => one.lostAt === null && ids.includes(one.credentialId));
      return new Map(found.map(one => [one.credentialId, one]));
    },
    anyIdentity: async () =>
      present()
        .identities.filter(({ lostAt }) => lostAt === null)
        .slice(0, 1),
    identityCandidates: async ({ aaguid, relyingParty, station, firmware }) => {
      const classOf = (one: IdentityRecord) => (one.station === station ? 0 : one.firmware === firmware ? 1 : 2);
      return present()
        .identities.filter(one => one.aaguid === aaguid && one.relyingParty === relyingParty && one.lostAt === null)
        .sort((a, b) => classOf(a) - classOf(b) || b.seenAt - a.seenAt || b.device - a.device)
        .map(({ credentialId, device }) => {
          return { credentialId, device, serialNumber: present().devices[device - 1]!.serialNumber };
        });
    },
    person: async number => present().people[number - 1] ?? null,
    personByName: async name => holderIn(present().people, personKey(name)) ?? null,
    personsByKey: async keys =>
      new Map(
        keys.flatMap(key => {
          const person = holderIn(present().people, key);
          return person ? [[key, person] as const] : [];
        }),
      ),
    peopleNamed: async name => present().people.filter(({ userKey }) => userKey === personKey(name)),
    devicesOf: async person =>
      present()
        .devices.filter(device => device.person === person)
        .map(({ number, status, lockReason }) => ({ number, status, lockReason })),
    deviceCount: async person => present().devices.filter(device => device.person === person).length,
    unmatchedNamedDevices: async key => unmatched().filter(({ userKey }) => userKey === key),
    isUnmatched: async name => unmatched().some(({ userKey }) => userKey === personKey(name)),
    leaverDevices: async () =>
      present().devices.filter(
        ({ status, person }) => status === 'ACTIVE' && person !== null && !present().people[person - 1]!.active,
      ).length,
    ownerlessTokens: async now => {
      const { serviceTokens, users, people } = present();
      return serviceTokens.filter(({ owner, revokedAt, expiresAt }) => {
        const account = owner === null ? undefined : users[owner - 1];
        if (!account || revokedAt !== null || expiresAt <= now) return false;
        const named = people.filter(({ userKey }) => userKey === account.userKey);
        const gone = named.some(({ active, heldAt, dueAt }) => !active && heldAt === null && dueAt === null);
        return account.disabled || (gone && !named.some(({ active }) => active));
      }).length;
    },
    unmatchedCount: async () => unmatched().length,
    unmatchedDevices: async (limit, offset) => unmatched().slice(offset, offset + limit),
    unkeyedDevices: async () => [],
    people: async ({
      keyword,
      withEmail = true,
      userKeys,
      numbers,
      source,
      active,
      group,
      externalId,
      isHeld,
      dueBy,
      isPresent,
      activeDevices,
      after,
      ...window
    }) => {
      const activeOf = (person: number) =>
        present().devices.filter(device => device.person === person && device.status === 'ACTIVE').length;
      const found = present().people.filter(
        person =>
          (withEmail ? person.search : person.search.split('\n\n')[0]!).includes(keyword?.toLowerCase() ?? '') &&
          (userKeys?.includes(person.userKey) ?? true) &&
          (numbers?.includes(person.number) ?? true) &&
          (source === undefined || person.source === source) &&
          (active === undefined || person.active === active) &&
          (group === undefined || person.groups.includes(group)) &&
          (externalId === undefined || person.externalId === externalId) &&
          (!isHeld || person.heldAt !== null) &&
          (dueBy === undefined || (person.dueAt ?? Number.POSITIVE_INFINITY) <= dueBy) &&
          (!isPresent || person.removedAt === null) &&
          (activeDevices === undefined || activeOf(person.number) === activeDevices) &&
          person.number > (after ?? 0),
      );
      return pageOf(found, window);
    },
    app: async number => present().apps[number - 1] ?? null,
    apps: async ({ platform, ...window }) =>
      pageOf(
        present().apps.filter(app => platform === undefined || app.platform === platform),
        window,
      ),
    appsOf: async platform => {
      const all = { descending: false, offset: 0, limit: Number.POSITIVE_INFINITY };
      return pageOf(
        present().apps.filter(app => app.platform === platform),
        all,
      ).rows;
    },
    backup: async number => present().backups[number - 1] ?? null,
    backups: async (device, window) =>
      pageOf(
        present().backups.filter(backup => backup.device === device),
        window,
      ),
    events: async filter => {
      const { events } = present();
      return (filter.before === undefined ? events : events.toReversed())
        .filter(
          event =>
            event.id > filter.after &&
            event.id < (filter.before ?? Number.POSITIVE_INFINITY) &&
            event.id <= (filter.through ?? Number.POSITIVE_INFINITY) &&
            (filter.types?.includes(event.type) ?? true) &&
            (filter.device === undefined || event.device === filter.device) &&
            (filter.actor === undefined || event.actor === filter.actor) &&
            (filter.requestId === undefined || event.requestId === filter.requestId) &&
            (filter.from === undefined || event.at >= filter.from) &&
            (filter.to === undefined || event.at <= filter.to),
        )
        .slice(0, filter.limit);
    },
    async journalHead(id) {
      const { length } = present().events;
      const of = id ?? length;
      return of > 0 && of <= length ? { id: of, mac: `code ${of}` } : null;
    },
    proof: async proofId => {
      const found = present().proofs.find(one => one.proofId === proofId);
      if (!found) return null;
      const { isPending: _, ...answer } = found;
      return answer;
    },
    latestProofs: async serials => {
      const found = serials.flatMap(
        serial => strongest(present().proofs.filter(({ serialNumber }) => serialNumber === serial))[0] ?? [],
      );
      return new Map(
        found.map(({ proofId, serialNumber, createdAt, proof }) => [
          serialNumber,
          { proofId, serialNumber, createdAt, proof },
        ]),
      );
    },
    hasEvidence: async (digest, besides) =>
      present().proofs.some(one => one.evidenceDigest === digest && one.proofId !== besides),
    document: async name => present().documents.find(one => one.name === name) ?? null,
    documentVersion: async name => present().documents.find(one => one.name === name)?.version ?? 0,
    ssoSessions: async user => present().ssoSessions.get(user) ?? null,
    allSsoSessions: async () => [...present().ssoSessions.values()],
    refusedRequests: async () => [...present().refused.values()],
    erasablePersons: async () => [],
    erasedByPolicy: async () => [],
    laterUpdates: async (user, after) =>
      present()
        .events.filter(({ id, type, subject }) => type === 'USER_UPDATED' && subject === user && id > after)
        .slice(0, 1)
        .map(({ id }) => ({ id })),
    laterPersonEntries: async () => [],
    personEntries: async (person, limit) =>
      present()
        .events.filter(({ type, subject }) => /^PERSON_/.test(type) && (person === null || subject === person))
        .toReversed()
        .slice(0, limit)
        .map(({ at, type, subject, actor, requestId, detail }) => {
          const entry = { at, type, person: subject!, actor, requestId, detail: JSON.stringify(detail) };
          return entry as Awaited<ReturnType<Store['personEntries']>>[number];
        }),
    leaverAccounts: async () => present().users.filter(user => !user.disabled && hasLeft(user.userKey)).length,
    leaverTokens: async now =>
      present().serviceTokens.filter(({ owner, revokedAt, expiresAt }) => {
        const user = present().users[(owner ?? 0) - 1];
        const named = present().people.filter(({ userKey }) => userKey === user?.userKey);
        const waits = named.every(({ active, heldAt, dueAt }) => active || heldAt !== null || dueAt !== null);
        return revokedAt === null && expiresAt > now && user?.disabled === false && hasLeft(user.userKey) && waits;
      }).length,
    leaverCredentials: async () =>
      present().credentials.filter(({ device, removedAt, credentialId, remoteId }) => {
        const owner = present().devices[device - 1]?.person;
        return (
          removedAt === null &&
          credentialId !== null &&
          !isSshKey(remoteId) &&
          owner &&
          present().people[owner - 1]?.active === false
        );
      }).length,
    unmatchedActive: async () => {
      const { devices, people } = present();
      const isUnmatched = (one: (typeof devices)[number]) => one.userId !== null && one.person === null;
      return people.length === 0 ? 0 : devices.filter(one => isUnmatched(one) && one.status === 'ACTIVE').length;
    },
    shipmentCount: async sentBy => onTheirWay(sentBy).length,
    shipments: async (sentBy, after, limit) =>
      onTheirWay(sentBy)
        .filter(
          ({ shippedAt, number }) =>
            shippedAt > after.shippedAt || (shippedAt === after.shippedAt && number > after.number),
        )
        .sort((a, b) => a.shippedAt - b.shippedAt || a.number - b.number)
        .slice(0, limit),
    scimTokens: async now =>
      present().serviceTokens.filter(
        ({ may, owner, revokedAt, expiresAt }) =>
          may.includes('scim') && revokedAt === null && expiresAt > now && !present().users[(owner ?? 0) - 1]?.disabled,
      ).length,
    leaverCase: async person => present().cases.get(person) ?? null,
    leaverCases: async (isOpen, { descending, offset, limit }) => {
      const found = [...present().cases.values()].filter(({ closedAt }) => (closedAt === null) === isOpen);
      found.sort((a, b) => (descending ? b.openedAt - a.openedAt : a.openedAt - b.openedAt) || a.number - b.number);
      return found.slice(offset, offset + limit);
    },
    leaverCaseCount: async isOpen =>
      [...present().cases.values()].filter(({ closedAt }) => (closedAt === null) === isOpen).length,
    tokensOwnedBy: async owner => present().serviceTokens.filter(token => token.owner === owner),
    passkeysOwnedBy: async owner => present().passkeys.filter(passkey => passkey.owner === owner),
    loansOf: async device => present().receipts.filter(one => one.device === device && one.kind === 'loan'),
    pinOf: async device => pinIn(present().documents.find(({ name }) => name === `pin:${device}`) ?? null),
    webhookProgress: async webhook => present().progress.get(webhook) ?? null,
    response: async (id, at) => {
      const found = responseOf(present(), id, at, fault);
      return found && { digest: found.digest, status: found.status, body: found.body };
    },
    lastEventId: async () => present().events.at(-1)?.id ?? 0,
    knownBlobs: async names => {
      const known = new Set([...present().apps, ...present().backups].map(record => record.blob));
      return new Set(names.filter(name => known.has(name)));
    },
    commit: async commit => {
      if (closed && fault !== 'accepts commits after closing') throw new StoreFailure('the store is closed');
      const result = (fault === 'commits without a lock' ? turn() : shared.queue).then(() => apply(commit));
      shared.queue = Promise.all([shared.queue, result]).catch(() => {});
      return result;
    },
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    health: async () => ({ ready: !closed, detail: 'memory' }),
    close: async () => {
      await shared.queue;
      closed = true;
      shared.handles.delete(handle);
    },
  };
}

const namesOf = (people: readonly { readonly number: number; readonly name: string | null }[]) =>
  new Map(people.map(({ number, name }) => [number, name]));
