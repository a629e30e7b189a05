/**
 * Names of the schemas in the OpenAPI document. What several operations share is a row here, by a place in the contract that has it. A
 * body, and the data of a response, that no row names have the name of their operation.
 */
import type { TSchema } from 'typebox';
import type { RouteShape } from '../define.ts';
import type { RouteName } from '../endpoints.ts';
import { isObject } from '../json-object.ts';
import { routes } from '../routes.ts';

/** An operation, its body or data, and members of it. A list stands for its items; a number is the position of one of several forms. */
type Place = `${RouteName}.${'body' | 'data'}${'' | `.${string}`}`;

const shared: Readonly<Record<string, readonly [place: Place, description: string]>> = {
  Device: ['getDevice.data', 'A device in full'],
  DeviceListItem: ['listDevices.data.list', 'A device in a list'],
  DeviceRegistration: ['registerDevice.body', 'The fields of a new device'],
  BatchItem: ['batchRegisterDevices.data.results', 'The result for one item of a batch'],
  NewIdentity: ['registerDevice.body.identity', 'A credential by which a key without a serial number is recognized'],
  Actor: ['listEvents.data.list.actor', 'Who caused an event'],
  FieldChange: ['listEvents.data.list.changes', 'A field before and after a change'],
  Event: ['listEvents.data.list', 'An entry of the journal'],
  User: ['createUser.data', 'A user of this system'],
  ListedUser: ['listUsers.data.list', 'A user in the list'],
  Account: ['login.data.user', 'The user of a session'],
  Login: ['login.data', 'A session that begins'],
  UserCode: ['showTerminalLogin.body', 'The code that a terminal shows'],
  SignInOptions: ['getSignInOptions.data', 'What a key is asked for at a sign-in'],
  RenewedToken: ['refreshToken.data', 'A new token of the same session'],
  KeyAssertion: ['signInWithKey.body.response', 'The response of a key that signs in, as browsers have it'],
  KeyAttestation: ['registerKey.body.response', 'The response of a key with a new credential, as browsers have it'],
  KeySignature: ['signReceipt.data.assertion', 'A signature of a credential on a key'],
  Passkey: ['registerKey.data', 'A security key with which a user signs in'],
  SsoSettings: ['showSsoSettings.data', 'The settings of single sign-on'],
  SsoRoles: ['showSsoSettings.data.roles', 'The groups whose members have a role'],
  SsoStrongSignIn: ['showSsoSettings.data.strong', 'What the provider states about a sign-in with a key'],
  SsoLocalAccounts: ['showSsoSettings.data.localAccounts', 'Where accounts with a password can still sign in'],
  Finding: ['testSso.data.findings', 'A result of one check'],
  AppVersion: ['getAppVersion.data', 'An uploaded installer package'],
  Backup: ['listBackups.data.list', 'A backup of a device'],
  Person: ['getPerson.data', 'A person of the registry'],
  HeldPerson: ['listHeldPeople.data.list', 'A person whose departure awaits a release'],
  RefusedProvisioning: [
    'listRefusedRequests.data.list',
    'A request of an identity provider that was not carried out in full',
  ],
  ProvisioningEntry: ['listProvisioning.data.list', 'A request of an identity provider'],
  UnmatchedDevice: ['listUnmatched.data.list', 'A device with a userId that no person has'],
  LeaverCase: ['showCase.data', 'What a person who left still has'],
  CaseItem: ['showCase.data.items', 'One thing that a person who left has'],
  CaseSummary: ['listCases.data.list', 'A case in the list'],
  PeoplePolicy: ['showPeoplePolicy.data', 'Rules about persons and devices'],
  DirectorySettings: ['showDirectory.data', 'The settings of the directory'],
  DirectoryGroup: ['showDirectory.data.groups', 'A group whose members are persons of the registry'],
  DirectoryAttributes: ['showDirectory.data.attributes', 'The attributes that hold the fields of a person'],
  DirectoryRun: ['showDirectory.data.lastRun', 'The last time that the directory was read'],
  DirectoryCounts: ['syncDirectory.data.counts', 'Numbers of entries of the directory'],
  ServiceToken: ['listTokens.data.list', 'A token of a program'],
  Proof: ['submitProof.data.proof', 'What a key has proved'],
  KeyClaims: ['submitProof.body.claims', 'What a key reports about itself'],
  Scp11bEvidence: ['submitProof.body.evidence.0', 'Evidence over SCP11b'],
  FidoEvidence: ['submitProof.body.evidence.1', 'Evidence over FIDO2'],
  U2fEvidence: ['submitProof.body.evidence.2', 'Evidence over U2F'],
  ProofPolicy: ['showProofPolicy.data', 'What a key must prove before it is registered'],
  TrustedCertificate: ['listTrust.data.certificates', 'A certificate that the registry trusts'],
  MetadataList: ['listTrust.data.metadata', 'The imported metadata of the FIDO Alliance'],
  IdentifiedKey: ['bindIdentity.data', 'The device that a key is'],
  IdentityCandidate: ['listIdentityCandidates.data.list', 'A credential that a key may have'],
  SignInPolicy: ['showSignInPolicy.data', 'Who has to sign in with a security key'],
  Provider: ['createProvider.data', 'An identity provider at which keys are issued'],
  Credential: ['finishCredential.data', 'A credential of a device at a provider'],
  CredentialPlace: ['finishCredential.data.stored', 'Where a key stores a credential'],
  CredentialDifference: ['reconcileProvider.data.onlyHere', 'A credential that the provider does not confirm'],
  KeyReset: ['showKeyReset.data', 'A reset of a key, and what it ends'],
  PinPolicy: ['showPinPolicy.data', 'Who can open stored PINs'],
  Webhook: ['enableWebhook.data', 'An endpoint that events are posted to'],
  WebhookDelivery: ['webhookDeliveries.data.list', 'An attempt to post an event'],
  Receipt: ['getReceipt.data', 'A receipt that a key has signed'],
  ListedReceipt: ['listReceipts.data.list', 'A receipt in the list'],
  ReceiptProof: ['getReceipt.data.proof', 'What the key proved when it signed'],
  OwnDevice: ['listOwnDevices.data.list', 'A device of the caller'],
  OwnEvent: ['listOwnDeviceEvents.data.list', 'An event of a device of the caller'],
  Key: ['listKeys.data.list', 'A physical key that is plugged in'],
  DriverStatus: ['listKeys.data.drivers', 'State of a hardware driver'],
  Decision: ['decide.data.decisions', 'Whether a key may be used now'],
  DevicesByStatus: ['getStatistics.data.byStatus', 'Number of devices in each status'],
  DevicesByTag: ['getStatistics.data.byTag.lot', 'Number of devices with a value of a tag'],
  CountInTime: ['getStatistics.data.registrations.perDay', 'Number of devices in a span of time'],
};

/** A named schema. */
export interface NamedSchema {
  readonly name: string;
  readonly schema: TSchema;
  readonly description: string;
}

interface Branch {
  readonly type?: string;
  readonly items?: Branch;
  readonly anyOf?: readonly Branch[];
  readonly properties?: Readonly<Record<string, Branch>>;
}

/** Items instead of their list, and a value instead of it or null. */
function content(branch: Branch): Branch {
  const present = branch.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  const inner = branch.items ?? (present.length === 1 ? present[0] : undefined);
  return inner ? content(inner) : branch;
}

function schemaAt(place: Place): TSchema {
  const [id, part, ...members] = place.split('.') as [RouteName, 'body' | 'data', ...string[]];
  const root: Branch | undefined = (routes[id] as RouteShape)[part];
  const found = members.reduce<Branch | undefined>((branch, name) => {
    const next = branch?.anyOf?.[Number(name)] ?? branch?.properties?.[name];
    return next && content(next);
  }, root);
  if (!found) throw new Error(`the contract has no ${place}`);
  return found as TSchema;
}

const capital = (id: string) => `${id[0]!.toUpperCase()}${id.slice(1)}`;
const hasMembers = (schema: TSchema | undefined): schema is TSchema =>
  isObject((schema as Branch | undefined)?.properties) && Object.keys((schema as Branch).properties!).length > 0;

/** Every named schema; of two with the same content, the first one counts. */
export function namedSchemas(): NamedSchema[] {
  const rows = Object.entries(shared).map(([name, [place, description]]) => ({
    name,
    schema: schemaAt(place),
    description,
  }));
  const own = Object.values<RouteShape>(routes).flatMap(({ id, body, data, websocket }) => [
    ...(hasMembers(body) ? [{ name: `${capital(id)}Request`, schema: body, description: `The body of ${id}` }] : []),
    ...(hasMembers(data) && !websocket
      ? [{ name: `${capital(id)}Result`, schema: data, description: `The data of a success of ${id}` }]
      : []),
  ]);
  return [...rows, ...own];
}
