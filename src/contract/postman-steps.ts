/** The requests of the Postman collection: what each sends, and what it stores from the response. */
import type { RouteName } from './endpoints.ts';
import { namesIn } from './names.ts';
import type { JsonObject } from './openapi/schemas.ts';

/** Input of a request of the collection instead of the example, and the values stored from its response. */
export interface Step {
  readonly send?: JsonObject;
  readonly query?: JsonObject;
  readonly file?: { readonly name: string; readonly content: string };
  /** Sent with the service token: its requests count apart, so that two runs in a minute stay within the limits of a user. */
  readonly asProgram?: true;
  /** The request needs a key, a provider or the role HOLDER, which Postman lacks: a refusal in the usual envelope passes too. */
  readonly takesKey?: true;
  /** The path names a missing thing: the response is 404. */
  readonly missing?: true;
  /** The request ends what requests of other folders use. */
  readonly atEnd?: true;
  /** Name of a variable → path of its value in `data`. */
  readonly save?: Readonly<Record<string, string>>;
  /** Name of a variable that gets all of `data` as JSON. */
  readonly saveAll?: string;
  /** Name of such a variable, which is sent as the body. */
  readonly sendSaved?: string;
}

const serial = (number: number) => `UK-{{run}}-${number}`;
const device = (number: number) => ({
  deviceType: 'UKEY',
  serialNumber: serial(number),
  manufacturer: 'Feitian',
  model: 'ePass K9',
});
const newPassword = 'correct horse {{run}}';

/** A root that no key has: its private key was deleted. */
const sampleRoot = [
  '-----BEGIN CERTIFICATE-----',
  'MIIBkDCCATegAwIBAgIUL2H/KS1sU1o2fJN/8Ziw4cTXonswCgYIKoZIzj0EAwIw',
  'HTEbMBkGA1UEAwwSZGV2bWdyIHNhbXBsZSByb290MCAXDTI2MTEyMjA1NDI1NVoY',
  'DzIxMjYxMDI5MDU0MjU1WjAdMRswGQYDVQQDDBJkZXZtZ3Igc2FtcGxlIHJvb3Qw',
  'WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR8TRkszgFPobpLFbsbBPH6kNCm0+ta',
  '3UO7l8rb6p/FVX3YHVkz3/tTbGdWG2dpwNqRYpjqt3y24xneehIOl0M6o1MwUTAd',
  'BgNVHQ4EFgQUsQ+GO/jfmD+uYT3BFeX/aqqZnb8wHwYDVR0jBBgwFoAUsQ+GO/jf',
  'mD+uYT3BFeX/aqqZnb8wDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBE',
  'AiB7/oWLkE77ar+9RFNl/hLuJ7FMAJiOR/MPYsP3on9s9QIgWCe1nwiIC+NeHdbY',
  'VLkOX5MVgCo450sixE4KwldrgNg=',
  '-----END CERTIFICATE-----',
].join('\n');

/** Requests that send nothing of their own, one after the other; the same step for each. */
const each = (names: readonly RouteName[], step: Step = {}): typeof steps =>
  Object.fromEntries(names.map(name => [name, step]));

/** The requests in the order of a run within a folder; folders are in the order of their first request. The format has no WebSockets. */
export const steps: Readonly<Partial<Record<RouteName, Step>>> = {
  login: { send: { username: '{{username}}', password: '{{password}}' }, save: { token: 'token' } },
  refreshToken: { save: { token: 'token' } },
  createSignInCode: { send: { purpose: 'SESSION' }, save: { signInCode: 'code' } },
  exchangeSignInCode: { send: { code: '{{signInCode}}' }, save: { token: 'token' } },
  createToken: {
    send: { name: 'line-{{run}}', role: 'ADMIN', expiresInDays: 1, may: ['webhooks'] },
    save: { tokenId: 'tokenId', serviceToken: 'token' },
  },
  registerDevice: {
    asProgram: true,
    send: device(1),
    save: { deviceId: 'deviceId', activationCode: 'activationCode' },
  },
  batchRegisterDevices: { asProgram: true, send: { devices: [device(2), device(3)] } },
  activateDevice: {
    asProgram: true,
    send: { deviceId: '{{deviceId}}', activationCode: '{{activationCode}}', userId: 'alice' },
  },
  ...each(namesIn('lockDevice unlockDevice updateDevice'), { asProgram: true }),
  generateActivationCode: {
    asProgram: true,
    send: { deviceId: '{{deviceId}}', validityDays: 30, reason: 'code was lost' },
    save: { activationCode: 'activationCode' },
  },
  batchUpdateDevices: {
    asProgram: true,
    send: { operation: 'GENERATE_CODE', items: [{ serialNumber: serial(2), reason: 'code was lost' }] },
  },
  ...each(namesIn('recordUsage shipDevice storePin'), { asProgram: true }),
  readPin: {},
  recordKeyReset: { asProgram: true, send: { stage: 'canceled' } },
  showKeyReset: {},
  listDevices: { query: { keyword: '{{run}}' } },
  exportDevices: { query: { format: 'ndjson', keyword: '{{run}}' } },
  getStatistics: {},
  getDevice: {},
  // Not of an ADMIN: each is refused.
  ...each(namesIn('listOwnDevices listOwnDeviceEvents reportLost confirmReceived'), { takesKey: true }),
  listEvents: { query: { deviceId: '{{deviceId}}' } },
  createBackup: {
    asProgram: true,
    file: { name: 'key.bak', content: 'an encrypted backup' },
    send: { note: 'before the trip' },
    save: { backupId: 'backupId' },
  },
  listBackups: {},
  downloadBackup: {},
  restoreBackup: { asProgram: true },
  createProofChallenge: { asProgram: true, save: { proofId: 'proofId' } },
  submitProof: { asProgram: true, send: { serialNumber: serial(1), claims: { firmware: '5.7.4' } } },
  createIdentityChallenge: { asProgram: true },
  listIdentityCandidates: { asProgram: true },
  // No key answers during a run.
  bindIdentity: {
    missing: true,
    send: { deviceId: 'DEV-0', evidence: { method: 'fido', attestationObject: 'AAAA' }, numberSource: 'printed' },
  },
  proveIdentity: {
    asProgram: true,
    missing: true,
    send: { deviceId: 'DEV-0', credentialId: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
  },
  createReceipt: {
    asProgram: true,
    send: { deviceId: '{{deviceId}}', kind: 'handover', terms: 'The key stays the property of Example Ltd.' },
    save: { receiptId: 'receiptId' },
  },
  listReceipts: {},
  // No key signs during a run.
  submitReceipt: {
    asProgram: true,
    missing: true,
    send: { text: 'unsigned', credentialId: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
  },
  getReceipt: { missing: true },
  uploadAppVersion: {
    file: { name: 'devmgr.apk', content: 'an installer package' },
    send: { platform: 'ANDROID', version: '1.0.{{build}}', versionName: 'First release', forceUpdate: false },
    save: { versionId: 'versionId' },
  },
  ...each(namesIn('listAppVersions getLatestAppVersion getAppVersion downloadAppVersion')),
  createUser: {
    send: { username: 'viewer-{{run}}', password: newPassword, role: 'VIEWER', email: 'ops@example.com' },
    save: { userId: 'id' },
  },
  createPerson: {
    asProgram: true,
    send: { userName: 'ada-{{run}}', name: 'Ada Lovelace' },
    save: { personId: 'personId' },
  },
  listPeople: { query: { keyword: '{{run}}' } },
  ...each(namesIn('getPerson getPersonAccess countLeftovers')),
  personLeaves: { asProgram: true, send: { reason: 'has left' } },
  ...each(namesIn('checkPeople listProvisioning listCases showCase')),
  keepCaseItem: { takesKey: true, send: { kind: 'device', id: '{{deviceId}}', reason: 'shared key' } },
  closeCase: { takesKey: true },
  reportPerson: {},
  personReturns: {},
  // Refused, because the person is back.
  erasePerson: { asProgram: true, takesKey: true, send: { confirmPassword: '{{password}}' } },
  ...each(namesIn('listHeldPeople listRefusedRequests listUnmatched')),
  importPeople: {
    asProgram: true,
    send: { people: [{ userName: 'grace-{{run}}', name: 'Grace Hopper' }], dryRun: true },
  },
  matchPeople: { asProgram: true, send: { matches: [{ deviceId: '{{deviceId}}', personId: '{{personId}}' }] } },
  comparePeople: {},
  undoPeople: { send: { requestId: 'none', dryRun: true } },
  releasePeople: { asProgram: true, send: { personIds: ['{{personId}}'] } },
  showPeoplePolicy: { saveAll: 'peoplePolicy' },
  setPeoplePolicy: { sendSaved: 'peoplePolicy' },
  // As with the policies, a run sends back what it has found.
  showDirectory: { saveAll: 'directorySettings' },
  setDirectory: { sendSaved: 'directorySettings' },
  testDirectory: {},
  syncDirectory: { send: { dryRun: true } },
  listUsers: {},
  getOwnUser: {},
  updateUser: { send: { role: 'DEALER' } },
  setPassword: { send: { password: `${newPassword} staple` } },
  logoutUser: {},
  createProvider: {
    send: {
      name: 'sample {{run}}',
      type: 'okta',
      address: 'https://{{run}}.okta.invalid',
      secret: 'sample',
    },
    save: { providerId: 'providerId' },
  },
  ...each(namesIn('listProviders testProvider reconcileProvider')),
  setProviderSecret: { send: { secret: 'another sample' } },
  listCredentials: {},
  // Nothing is issued: the provider of the sample does not exist, and a key would have to answer.
  startCredential: { asProgram: true, takesKey: true },
  finishCredential: { asProgram: true, missing: true },
  removeCredential: { asProgram: true, missing: true },
  removeProvider: {},
  showPinPolicy: { saveAll: 'pinPolicy' },
  setPinPolicy: { sendSaved: 'pinPolicy' },
  // The variable keyId names no attached key, so that a run never asks a real one.
  ...each(namesIn('proveKey issueKey identifyKey signReceipt'), { asProgram: true, missing: true }),
  ...each(namesIn('decide listSshKeys judgeProofsAgain')),
  // A run sends the policy of the service back: another one would change what a live registry accepts.
  showProofPolicy: { saveAll: 'proofPolicy' },
  setProofPolicy: { sendSaved: 'proofPolicy' },
  importTrust: {
    file: { name: 'root.pem', content: sampleRoot },
    send: { purpose: 'scp11b', label: 'sample' },
    save: { fingerprint: 'certificates[0].fingerprint' },
  },
  listTrust: {},
  removeTrust: {},
  showSignInPolicy: { saveAll: 'signInPolicy' },
  setSignInPolicy: { sendSaved: 'signInPolicy' },
  getSession: {},
  showSso: {},
  // As with the policies, a run sends back what it has found.
  showSsoSettings: { saveAll: 'ssoSettings' },
  setSso: { sendSaved: 'ssoSettings' },
  testSso: {},
  ...each(namesIn('startSso finishSso showSsoTerminal takeSso startSsoDevice pollSsoDevice logoutSso'), {
    takesKey: true,
  }),
  listKeysOfUser: {},
  allowRegistration: {},
  requireKeyOfUser: { send: { required: false } },
  ...each(namesIn('getSignInOptions signInWithKey getKeyRegistrationOptions registerKey removeKeyOfUser'), {
    takesKey: true,
  }),
  createTerminalLogin: { save: { userCode: 'userCode', terminalRequest: 'requestId', terminalSecret: 'secret' } },
  showTerminalLogin: { send: { userCode: '{{userCode}}' } },
  approveTerminalLogin: { send: { userCode: '{{userCode}}' } },
  takeTerminalLogin: { send: { requestId: '{{terminalRequest}}', secret: '{{terminalSecret}}' } },
  getStepUpOptions: { takesKey: true },
  stepUp: { send: { password: '{{password}}' } },
  createWebhook: { send: { url: 'https://hooks.example.com/{{run}}' }, save: { webhookId: 'webhookId' } },
  listWebhooks: {},
  testWebhook: {},
  disableWebhook: { asProgram: true },
  enableWebhook: { asProgram: true },
  webhookDeliveries: {},
  // A webhook that was just created has posted nothing.
  replayWebhookDelivery: { missing: true },
  ...each(
    namesIn('removeWebhook listTokens adoptToken listKeys getHealth getSwaggerPage getOpenapiJson getOpenapiYaml'),
  ),
  ...each(namesIn('getPostmanCollection getMetrics')),
  deactivateDevice: {
    atEnd: true,
    asProgram: true,
    send: { reason: 'worn out', confirmPassword: '{{password}}' },
  },
  revokeToken: { atEnd: true },
};
