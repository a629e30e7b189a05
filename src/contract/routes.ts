/** Every operation of the interface, by name. */
import { appOperations } from './apps.ts';
import { authOperations } from './auth.ts';
import { backupOperations } from './backups.ts';
import { caseOperations } from './cases.ts';
import { decisionOperations } from './decisions.ts';
import type { BodyOf, DataOf, FormOf, InputOf, QueryOf, RouteShape } from './define.ts';
import { deviceBatchOperations } from './device-batch.ts';
import { deviceListOperations } from './device-lists.ts';
import { deviceOperations } from './devices.ts';
import { directoryOperations } from './directory.ts';
import { driftOperations } from './drift.ts';
import { endpoints, type RouteName } from './endpoints.ts';
import { erasureOperations } from './erasure.ts';
import { hardwareOperations } from './hardware.ts';
import { holderOperations } from './holders.ts';
import { identityOperations } from './identity.ts';
import { keyResetOperations } from './key-resets.ts';
import { matchingOperations } from './matching.ts';
import { peopleOperations } from './people.ts';
import { peopleImportOperations } from './people-import.ts';
import { peoplePolicyOperations } from './people-policy.ts';
import { pinOperations } from './pins.ts';
import { proofOperations } from './proofs.ts';
import { providerOperations } from './providers.ts';
import { provisioningOperations } from './provisioning.ts';
import { receiptOperations } from './receipts.ts';
import { signInCodeOperations } from './sign-in-codes.ts';
import { signInPolicyOperations } from './sign-in-policy.ts';
import { ssoOperations } from './sso.ts';
import { statisticsOperations } from './statistics.ts';
import { systemOperations } from './system.ts';
import { terminalLoginOperations } from './terminal-logins.ts';
import { tokenOperations } from './tokens.ts';
import { trustOperations } from './trust.ts';
import { undoOperations } from './undo.ts';
import { userOperations } from './users.ts';
import { passkeyOperations } from './webauthn.ts';
import { webhookOperations } from './webhooks.ts';

const described = {
  ...appOperations,
  ...authOperations,
  ...backupOperations,
  ...caseOperations,
  ...decisionOperations,
  ...deviceBatchOperations,
  ...deviceListOperations,
  ...deviceOperations,
  ...directoryOperations,
  ...driftOperations,
  ...erasureOperations,
  ...hardwareOperations,
  ...holderOperations,
  ...identityOperations,
  ...keyResetOperations,
  ...matchingOperations,
  ...peopleOperations,
  ...peopleImportOperations,
  ...peoplePolicyOperations,
  ...pinOperations,
  ...providerOperations,
  ...proofOperations,
  ...provisioningOperations,
  ...receiptOperations,
  ...signInCodeOperations,
  ...signInPolicyOperations,
  ...ssoOperations,
  ...statisticsOperations,
  ...systemOperations,
  ...terminalLoginOperations,
  ...tokenOperations,
  ...trustOperations,
  ...undoOperations,
  ...userOperations,
  ...passkeyOperations,
  ...webhookOperations,
};

/** Members of the data of a response, and of the items of its list. */
type MemberOf<D> = (keyof D & string) | (D extends { list: (infer I)[] } ? `list.${keyof I & string}` : never);
type CompleteRoutes = {
  readonly [N in RouteName]: RouteShape & { readonly returns: readonly MemberOf<DataOf<(typeof described)[N]>>[] };
};

/** The types of all operations, by name. */
export type Routes = typeof described;
/** A part of the operation with this name: `Body` is its `BodyOf`, and so on. */
export type Body<N extends RouteName> = BodyOf<Routes[N]>;
export type Data<N extends RouteName> = DataOf<Routes[N]>;
export type Query<N extends RouteName> = QueryOf<Routes[N]>;
export type Form<N extends RouteName> = FormOf<Routes[N]>;
export type Input<N extends RouteName> = InputOf<Routes[N]>;
/** Every operation, in the order of `endpoints`. The server, the typed client and the documents are derived from this table. */
export const routes = Object.fromEntries(
  Object.keys(endpoints).map(name => [name, described[name as RouteName]]),
) as typeof described satisfies CompleteRoutes;
