/** The values that the interface fixes for persons, as plain data. */
import { namesIn } from './names.ts';

/** Where a person is from: added here, by an identity provider, from a directory, or from a file that an ADMIN imports. */
export const personSources = ['local', 'scim', 'directory', 'import'] as const;
/** Where a person is from. */
export type PersonSource = (typeof personSources)[number];

/** Where data of a person stays after an erasure. */
export const erasureLimits = namesIn(
  'backups home database-log forwarding webhooks stations journal accounts source tokens logs',
);

/** Kinds of what a person can have, in the case of a leaver. */
export const caseKinds = namesIn('device account session token passkey credential issue loan pin');
/** A kind of what a person can have. */
export type CaseKind = (typeof caseKinds)[number];
/** The state of an item of a case. `kept`: an ADMIN has decided that it stays. */
export const caseStates = ['open', 'closed', 'kept'] as const;
/** How the case of a leaver ended: an ADMIN closed it, or the person is back. */
export const caseEnds = ['closed', 'returned'] as const;

/** Sources whose refused values are listed. */
export const provisioningSources = ['scim', 'directory', 'import'] as const satisfies readonly PersonSource[];
/** A source whose refused values are listed. */
export type ProvisioningSource = (typeof provisioningSources)[number];

/** Effects of an imported row on a person. `held`, `due`: the person leaves, and the ACTIVE devices wait for a release or a delay. */
export const importOutcomes = ['created', 'updated', 'unchanged', 'back', 'left', 'held', 'due'] as const;
/** An effect of an imported row on a person. */
export type ImportOutcome = (typeof importOutcomes)[number];

/** Actions on the ACTIVE devices of a person who leaves. */
export const leaverActions = ['lock', 'retire'] as const;
/** An action on the ACTIVE devices of a person who leaves. */
export type LeaverAction = (typeof leaverActions)[number];

/** Scopes of a run: what it reads of a directory. */
export const directoryRuns = ['ALL', 'CHANGES'] as const;
/** The scope of a run: what it reads of a directory. */
export type DirectoryRun = (typeof directoryRuns)[number];
/** Steps of a run for a person; `skipped`: for an entry that cannot be one. */
export const directorySteps = ['new', 'changed', 'left', 'held', 'back', 'skipped'] as const;

/** Results of an undo: it is as before; it already was; it is not changed. */
export const undoOutcomes = ['restored', 'unchanged', 'left'] as const;
/** Fields that an undo restores. `newUserName`: a user name that waits for a release. */
export const undoFields = namesIn(
  'active userName newUserName name names email externalId source groups disabled status userId personId',
);

/** Why an active person is not one at the identity provider. */
export const driftReasons = ['gone', 'disabled'] as const;
