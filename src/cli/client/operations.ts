/** What the command line needs to know of the operations beside their endpoints. */
import type { DataOf } from '../../contract/define.ts';
import { endpoints, type RouteName } from '../../contract/endpoints.ts';
import type { Routes } from '../../contract/routes.ts';

type FieldsOf<N extends RouteName> = readonly (string & keyof NonNullable<DataOf<Routes[N]>>)[];

/** Fields that `data` must have: without them a response does not come from a devmgr server, or nothing can be shown. */
const requiredFields: { readonly [N in RouteName]?: FieldsOf<N> } = {
  login: ['token', 'expireTime', 'user'],
  refresh: ['token'],
  createCode: ['code', 'expireTime'],
  exchangeCode: ['token', 'expireTime', 'user'],
  webauthnLogin: ['token', 'expireTime', 'user'],
  stepUp: ['token'],
  createTerminalLogin: ['requestId', 'userCode', 'secret', 'expireTime'],
  takeTerminalLogin: ['state'],
  register: ['deviceId', 'activationCode'],
  batchRegister: ['results'],
  batchUpdate: ['results'],
  events: ['list', 'head'],
  statistics: ['total', 'byStatus', 'byType', 'byManufacturer', 'registrations'],
  activate: ['deviceId', 'status'],
  lock: ['deviceId', 'status'],
  unlock: ['deviceId', 'status'],
  deactivate: ['deviceId', 'status'],
  listDevices: ['list', 'pagination'],
  deviceDetail: ['deviceId', 'serialNumber', 'status'],
  updateDevice: ['deviceId'],
  generateActivationCode: ['deviceId', 'activationCode'],
  recordUsage: ['deviceId'],
  uploadApp: ['versionId', 'sha256'],
  listApps: ['list', 'pagination'],
  latestApp: ['latest'],
  showApp: ['versionId', 'sha256', 'fileName'],
  createBackup: ['backupId'],
  listBackups: ['list', 'pagination'],
  restoreBackup: ['backupId'],
  createUser: ['id', 'username'],
  listUsers: ['list', 'pagination'],
  me: ['id', 'username', 'role'],
  updateUser: ['id', 'username'],
  setPassword: ['id', 'username'],
  logoutUser: ['id', 'username'],
  createToken: ['tokenId', 'token', 'expiresAt'],
  listTokens: ['list', 'pagination'],
  revokeToken: ['tokenId', 'name'],
  createChallenge: ['proofId', 'challenge', 'registryId', 'ephemeralPublicKey'],
  submitProof: ['proof'],
  judgeAgain: ['judged', 'changed', 'next'],
  importTrust: ['metadata', 'certificates', 'warnings'],
  listTrust: ['metadata', 'certificates'],
  removeTrust: ['fingerprint'],
  proofPolicy: ['requiredGrade', 'allowedAaguids', 'leastFirmware'],
  setProofPolicy: ['requiredGrade', 'allowedAaguids', 'leastFirmware'],
  createWebhook: ['webhookId', 'url', 'secret'],
  listWebhooks: ['list'],
  testWebhook: ['webhookId', 'delivered'],
  disableWebhook: ['webhookId', 'url'],
  enableWebhook: ['webhookId', 'url'],
  removeWebhook: ['webhookId'],
  webhookDeliveries: ['list'],
  listKeys: ['list', 'drivers'],
  proveKey: ['claims', 'problem'],
  health: ['service', 'version'],
};

/** Fields that each item of a list must have: its id, and what is read to show it. */
const requiredOfItems: { readonly [N in RouteName]?: readonly string[] } = {
  listDevices: ['deviceId', 'serialNumber'],
  listUsers: ['id', 'username'],
  listTokens: ['tokenId', 'name'],
  listApps: ['versionId'],
  listWebhooks: ['webhookId', 'url'],
  webhookDeliveries: ['eventId', 'at'],
  listBackups: ['backupId'],
  listKeys: ['keyId', 'serialNumber'],
  events: ['type', 'data'],
};

/** Fields that the `data` of an operation has at least; `list.id` is a field of each item of a list. */
export const fieldsOf = (name: RouteName): readonly string[] => [
  ...(requiredFields[name] ?? []),
  ...(requiredOfItems[name] ?? []).map(field => `list.${field}`),
];

/** Whether an operation is called with a token. */
export const needsToken = (name: RouteName): boolean => !('access' in endpoints[name]);

/** Whether an operation without a file is sent with an Idempotency-Key. */
export const takesKey = (name: RouteName): boolean =>
  endpoints[name].method !== 'GET' && !('neverReplayed' in endpoints[name]);

/** Path and query of a request. Path parameters are escaped, so that no value can reach another operation. */
export function pathOf(
  template: string,
  params: Readonly<Record<string, unknown>> = {},
  query: Readonly<Record<string, unknown>> = {},
): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name] ?? '')));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    // Tags may contain commas: each is a parameter of its own. Other lists are one parameter.
    if (name === 'tag' && Array.isArray(value)) for (const tag of value) search.append(name, String(tag));
    else search.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}
