/**
 * The words of the console in English, for each page those that it alone needs. Any other language has the same entries: the type checker compares
 * them. An entry is a text, or a function of what it names.
 */
import { statisticsRange } from '../../src/contract/values.ts';
import type { CheckName } from '../../src/enrollment/line/checks.ts';
import type { Remark } from '../../src/enrollment/line/events.ts';
import { type FileFault, rosterBounds } from '../../src/enrollment/line/roster.ts';
import type { KeyFailure } from '../../src/enrollment/outcome.ts';
import { grouped } from './numbers.ts';

/** The words for each entry of a set. */
type Words<K extends string> = Readonly<Record<K, string>>;

const s = (count: number, one: string, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;

/** What every page needs. */
export const common = {
  /** Of the language (BCP 47). */
  code: 'en',
  nav: {
    label: 'Pages',
    skip: 'Skip to the content',
    overview: 'Overview',
    devices: 'Devices',
    bench: 'Bench',
    activity: 'Activity',
    packages: 'Packages',
    users: 'Users',
    tokens: 'Tokens',
    webhooks: 'Webhooks',
    account: 'Account',
    terminal: 'Sign in a terminal',
  },
  stream: {
    connecting: 'connecting …',
    live: 'live',
    lost: 'Connection lost: what you see may be old. Reconnecting …',
  },
  problem: {
    title: 'That did not work',
    noAnswer: 'The daemon does not answer. Check that it runs, then try again.',
    forbidden: 'Your role does not allow this.',
    limited: (seconds: number) => `Too many requests: this one is sent again in ${s(seconds, 'second')}.`,
    /** A refusal in the words of the language; `message` is that of the daemon, in English. */
    refusal: (_code: number, message: string): string => message,
    requestId: (id: string) => `Request ${id}`,
    retry: 'Try again',
    keyKnown: 'This key is already registered.',
    noKey: 'No security key was used: it was canceled, took too long, or no key fits. Try again.',
    keyAddress:
      'You must sign in with a security key, and browsers use none at this address. Open the console over HTTPS or at localhost.',
    notLoaded: 'This part of the console could not be loaded. It is loaded again when the connection is back.',
    crashed: 'This page has failed. Reload it; the registry is not affected.',
  },
  common: {
    cancel: 'Cancel',
    close: 'Close',
    save: 'Save',
    loading: 'Loading …',
    updating: 'Updating …',
    none: 'None',
    unknownPage: 'This page does not exist.',
    never: 'never',
    previous: 'Previous',
    next: 'Next',
    copy: 'Copy',
    actions: 'Actions',
    copied: 'Copied',
    noEvents: 'Nothing has happened yet.',
    page: (page: number, pages: number) => `Page ${grouped(page)} of ${grouped(pages)}`,
  },
  status: { INACTIVE: 'inactive', ACTIVE: 'active', LOCKED: 'locked', DEACTIVATED: 'deactivated' },
  type: { UKEY: 'USB key', SIMKEY: 'SIM key' },
  event: {
    DEVICE_REGISTERED: 'registered',
    DEVICE_ACTIVATED: 'activated',
    DEVICE_LOCKED: 'locked',
    DEVICE_UNLOCKED: 'unlocked',
    DEVICE_DEACTIVATED: 'deactivated',
    DEVICE_UPDATED: 'updated',
    ACTIVATION_CODE_GENERATED: 'new activation code',
    APP_VERSION_UPLOADED: 'package uploaded',
    KEY_ATTACHED: 'plugged in',
    KEY_DETACHED: 'unplugged',
  },
  who: {
    by: (kind: string, name: string) => `by ${kind}${name}`,
    kind: {
      user: '',
      token: 'the service token ',
      daemon: 'the program ',
      directory: 'the directory ',
      provider: 'the provider ',
    },
    changes: 'What was changed',
    field: { note: 'Note', tags: 'Tags', firmwareVersion: 'Firmware version' },
  },
  grade: { none: 'unproved', claimed: 'claimed', model: 'model proved', unit: 'unit proved', failed: 'failed' },
  action: {
    LOCK: 'Lock',
    UNLOCK: 'Unlock',
    ACTIVATE: 'Activate',
    GENERATE_CODE: 'New code',
    DEACTIVATE: 'Retire',
  },
};

/** The first page, with its charts. */
export const overview = {
  title: 'Overview',
  devices: 'devices',
  perHour: 'Registrations per hour',
  perDay: 'Registrations per day',
  codesExpiring: `codes that expire within ${statisticsRange.codesDays} days`,
  unused: `active, not used for ${statisticsRange.unusedDays} days`,
  types: { UKEY: 'USB keys', SIMKEY: 'SIM keys' },
  newest: 'Newest events',
  chart: {
    sum: (count: number) => `${grouped(count)} in all`,
    table: 'As a table',
    time: 'Time',
    count: 'Registrations',
  },
};

/** The page Activity. */
export const activity = {
  title: 'Activity',
  search: { deviceId: 'Device', actor: 'Person', from: 'From (day)', to: 'Until (day)' },
  types: 'Show only',
  earlier: 'Earlier events',
  whole: 'The journal begins here.',
};

/** The menu of the person. */
export const menu = {
  keys: 'Security keys',
  signOut: 'Sign out',
  theme: 'Colors',
  light: 'light',
  dark: 'dark',
  system: 'as the system',
  language: 'Language',
};

/** Roles, and what they allow. */
export const roles = {
  name: { ADMIN: 'administrator', DEALER: 'dealer', VIEWER: 'viewer' },
  may: {
    ADMIN: 'May do everything.',
    DEALER: 'Handles devices and their backups, but not users, tokens and uploads.',
    VIEWER: 'Reads, without activation codes.',
  },
};

/** What a person enters for an action on devices. */
export const entries = {
  reason: 'Reason',
  note: 'Note (optional)',
  validityDays: 'Days for which the code is valid',
  password: 'Password of an administrator',
  userId: 'User',
  activationCode: 'Activation code',
  final: 'A retired device can never be used again.',
};

/** Signing in. */
export const signIn = {
  signIn: {
    title: 'Sign in',
    username: 'User name',
    password: 'Password',
    submit: 'Sign in',
    expired: 'Your session has ended. Sign in again.',
    code: 'This link was used before or is older than 30 seconds. Run devmgr open again, or sign in.',
    wrong: 'User name or password is wrong.',
    withKey: 'Sign in with a security key',
    registered: 'The key is registered. Sign in again.',
    local: { before: 'On the machine of the daemon,', after: 'opens this page signed in.' },
  },
  stepUp: {
    title: 'Sign in again',
    why: 'This change needs a sign-in of the last ten minutes.',
    wrong: 'The password is wrong.',
    withKey: 'Use a security key',
  },
};

/** Why a button takes no answer yet. */
export const approval = {
  wait: 'You can confirm when this window has been in front for a second.',
  opened:
    'Another page has opened this tab and can change what it shows, so nothing can be confirmed here. Open the console in a new tab.',
};

/** The question whether a link may sign the tab in. */
export const offer = {
  title: (name: string, host: string) => `Continue as ${name} on ${host}?`,
  why: 'A link has opened this page with this account. Continue only if it is yours: what you do is recorded in its name.',
  present: (name: string) => `This tab is signed in as ${name}. If you continue, that session ends in this tab.`,
  accept: (name: string) => `Continue as ${name}`,
  refuse: 'Do not continue',
  stay: (name: string) => `Stay signed in as ${name}`,
  invalid: 'This link does not work',
};

/** The account of the person. */
export const account = {
  mustRegister: 'You must sign in with a security key and have none yet. Register one; then sign in again.',
  title: 'Security keys',
  keysHint:
    'With a key you sign in without a password, or after it. A key works only at the name it was registered for.',
  noKeys: 'You have no key yet.',
  column: { name: 'Name of the key', site: 'Works at', registered: 'Registered', used: 'Last used' },
  action: { remove: 'Remove' },
  of: { remove: (name: string) => `Remove: ${name}` },
  keyExample: 'for example: desk',
  add: 'Register a key',
  cannot:
    'Browsers use security keys only over HTTPS and at localhost. Open the console at such an address to register one.',
  requireOwn: 'Require a key at each sign-in of this account',
  removeTitle: (name: string) => `Remove the key ${name}?`,
  removeHint: 'It no longer signs you in. It cannot be registered again.',
  policy: 'Who must have a key',
  policyHint:
    'Users of these roles sign in with a key after the password. A user without a key can only register one. Require keys for a role after its users have registered them.',
  policyRoles: 'Roles',
  require: {
    title: (role: string) => `Require a key of each ${role}?`,
    submit: 'Require keys',
    hint: 'Users of this role who have no key can only register one at their next sign-in.',
  },
  release: {
    title: (role: string) => `Let each ${role} sign in without a key?`,
    submit: 'Allow passwords alone',
    hint: 'The password alone is then enough for users of this role.',
  },
};

/** The page that signs in a terminal. */
export const terminal = {
  title: 'Sign in a terminal',
  code: 'Code that the terminal shows',
  show: 'Continue',
  name: 'Its name for itself',
  address: 'Its address',
  asked: 'It asked at',
  warning: 'Approve only if you have just started devmgr login --web and read the code on its terminal.',
  effect: (user: string) => `The terminal then works as ${user}.`,
  approve: 'This is my terminal: sign it in',
  done: 'The terminal is signed in. You can close this page.',
  unknown:
    'No terminal waits with this code: it is wrong, was used, or is older than five minutes. Compare it with the terminal, or run devmgr login --web again.',
};

/** The list of devices. */
export const devices = {
  title: 'Devices',
  search: 'Search',
  searchHint: 'part of an id or serial number',
  filters: 'Filters',
  applied: 'Filters that apply',
  filter: {
    keyword: 'Search',
    status: 'State',
    deviceType: 'Type',
    proof: 'Proof',
    tag: 'Tag',
    manufacturer: 'Manufacturer (exact)',
    userId: 'User (exact)',
    serialNumber: 'Serial number (exact)',
    aaguid: 'AAGUID',
    advisory: 'Advisory',
    createdFrom: 'Registered from',
    createdTo: 'Registered until',
    lastUsedBefore: 'Unused since',
    codeExpiresBefore: 'Code expires before',
  },
  removeFilter: (name: string) => `Remove the filter ${name}`,
  column: {
    device: 'Device',
    serial: 'Serial number',
    type: 'Type',
    manufacturer: 'Manufacturer',
    model: 'Model',
    state: 'State',
    user: 'User',
    registered: 'Registered',
    used: 'Last used',
    proof: 'Proof',
    tags: 'Tags',
  },
  total: (count: number) => s(count, 'device'),
  selected: (count: number, total: number) => `${grouped(count)} of ${s(total, 'device')} selected`,
  allSelected: (total: number) => `All ${s(total, 'matching device')} selected`,
  select: (id: string) => `Select ${id}`,
  selectPage: 'Select all on this page',
  selectAll: (total: number) => `Select all ${grouped(total)} matching`,
  clear: 'Clear selection',
  changes: (count: number) => `${s(count, 'other device')} changed: show`,
  empty: 'No device matches.',
  export: (format: string) => `Export ${format}`,
  exporting: 'Exporting …',
};

/** Bulk operations. */
export const bulk = {
  counting: (count: number) => (count ? `Counting: ${s(count, 'device')} …` : 'Counting …'),
  count: 'Devices',
  what: 'What happens',
  changed: 'will be changed',
  skipped: 'skipped: the state does not allow it',
  preview: {
    LOCK: (count: number) => `${s(count, 'device')} will be locked.`,
    UNLOCK: (count: number) => `${s(count, 'device')} will be unlocked.`,
    GENERATE_CODE: (count: number) => `${s(count, 'device')} will get a new code. Earlier codes become invalid.`,
    DEACTIVATE: (count: number) => `${s(count, 'device')} will be retired.`,
  },
  start: {
    LOCK: (count: number) => `Lock ${s(count, 'device')}`,
    UNLOCK: (count: number) => `Unlock ${s(count, 'device')}`,
    GENERATE_CODE: (count: number) => `Replace ${s(count, 'code')}`,
    DEACTIVATE: (count: number) => `Retire ${s(count, 'device')}`,
  },
  done: {
    LOCK: (count: number) => `${s(count, 'device')} locked.`,
    UNLOCK: (count: number) => `${s(count, 'device')} unlocked.`,
    GENERATE_CODE: (count: number) => `${s(count, 'code')} replaced.`,
    DEACTIVATE: (count: number) => `${s(count, 'device')} retired.`,
  },
  typeCount: (count: number) => `Type the number of devices, ${count}`,
  progress: (done: number, total: number) => `${grouped(done)} of ${s(total, 'device')}`,
  stop: 'Stop after this batch',
  stopping: 'Stopping …',
  failed: (count: number) => `${grouped(count)} failed.`,
  left: (count: number) => `${s(count, 'device')} not tried.`,
  failedTitle: 'Failed devices',
  why: 'Why',
  more: (count: number) => `${grouped(count)} more in the file.`,
  download: 'Download results (CSV)',
  code: 'Activation code',
  codes: 'New codes',
  showCodes: 'Show codes',
  hideCodes: 'Hide codes',
  downloadCodes: 'Download codes (CSV)',
};

/** The page of a device. */
export const device = {
  back: 'All devices',
  facts: {
    title: 'Facts',
    serialNumber: 'Serial number',
    deviceType: 'Type',
    manufacturer: 'Manufacturer',
    model: 'Model',
    hardwareVersion: 'Hardware version',
    firmwareVersion: 'Firmware version',
    user: 'User',
    createdAt: 'Registered',
    activatedAt: 'Activated',
    lastUsedAt: 'Last used',
    uses: 'Uses',
    lockedAt: 'Locked',
    lockReason: 'Reason of the lock',
    deactivatedAt: 'Retired',
    updatedAt: 'Last changed',
  },
  proof: {
    title: 'Proof',
    grades: {
      none: 'Nothing is known about this key.',
      claimed: 'Nothing is proved: only the key itself reports this.',
      model:
        'It is a genuine key of its model. Its serial number is not proved: other keys of the model could claim it.',
      unit: 'It is a genuine key with this serial number.',
      failed: 'The evidence contradicts the key: do not use it.',
    },
    without: 'This device was registered without a proof.',
    model: 'Model',
    serial: 'Serial number',
    aaguid: 'AAGUID',
    firmware: 'Firmware',
    method: 'Method',
    root: 'Trust anchor',
    metadataNumber: 'FIDO metadata',
    provedAt: 'Proved',
    warnings: 'Warnings',
  },
  tags: {
    title: 'Tags',
    add: 'New tag',
    submit: 'Add',
    remove: (name: string) => `Remove the tag ${name}`,
    fault: 'Write name:value. A name begins with a letter and has small letters, digits, _ and - only.',
  },
  note: { title: 'Note', none: 'No note.' },
  change: 'Change',
  conflict: {
    title: 'Another person has changed this since you began.',
    stored: 'Stored now',
    mine: 'Your text',
    none: 'Nothing',
    keepStored: 'Keep what is stored',
    keepMine: 'Replace it by mine',
  },
  readOnly: 'Tags, note and firmware version can be changed while the device is inactive or active.',
  code: {
    title: 'Activation code',
    hidden: 'Hidden. It is shown for one minute.',
    show: 'Show code',
    hide: 'Hide code',
    expires: (time: string) => `Valid until ${time}`,
    qr: 'Activation code as a QR code',
  },
  action: {
    deviceId: (id: string) => `Type the id of the device, ${id}`,
    GENERATE_CODE: 'The present code becomes invalid.',
    LOCK: 'The device cannot be used until it is unlocked.',
    UNLOCK: 'The device can be used again.',
    ACTIVATE: 'The device is bound to the user.',
  },
  history: { title: 'History', older: 'Older events', begin: 'That is all.' },
  backups: {
    title: 'Backups',
    none: 'No backups.',
    column: { file: 'File', size: 'Size', at: 'Stored', note: 'Note' },
    bytes: (count: number) => `${grouped(count)} bytes`,
    action: { download: 'Download' },
    of: { download: (name: string) => `Download: ${name}` },
    more: (count: number) => `${grouped(count)} older ones: devmgr backups list`,
  },
  label: { title: 'Label', text: 'On a station with a label printer:', print: 'Print this page' },
};

/** The page Packages. */
export const packages = {
  title: 'Packages',
  total: (count: number) => s(count, 'package'),
  empty: 'No package has been uploaded yet.',
  platform: 'Platform',
  all: 'all platforms',
  column: {
    version: 'Version',
    platform: 'Platform',
    file: 'File',
    size: 'Size',
    digest: 'SHA-256',
    uploaded: 'Uploaded',
  },
  action: { create: 'Upload package', download: 'Download' },
  of: { download: (name: string) => `Download ${name}` },
  newest: 'newest',
  forced: 'forces an update',
  oldest: (version: string) => `oldest supported: ${version}`,
  changes: 'Changes',
  by: (name: string) => `by ${name}`,
  tooLarge: 'This browser cannot save a file of this size. On the command line:',
  saved: (name: string) => `${name} was saved; its SHA-256 is right.`,
  damaged: (name: string) => `${name} arrived damaged: its SHA-256 is wrong. Nothing was saved. Download it again.`,
  progress: (done: string, total: string) => `${done} of ${total}`,
  file: 'Package',
  version: 'Version number',
  versionName: 'Display name (optional)',
  changelog: 'Changes (optional)',
  oldestSupported: 'Oldest supported version (optional)',
  forceUpdate: 'Older clients must update',
  wrongFile: (extensions: string) => `The file is not an installer package: ${extensions}.`,
  emptyFile: 'The file is empty.',
  largeFile: (most: string) => `The file is larger than ${most}.`,
  wrongVersion: 'Up to four numbers with dots, then - or + parts, such as 1.0.0 or 1.2.0-rc.1.',
  exists: (id: string) => `This version was already uploaded as ${id}. Choose another version number.`,
  sending: (name: string) => `Sending ${name}`,
  checking: 'The package is stored. The SHA-256 is being compared …',
  cancel: 'Cancel upload',
  canceled: 'The upload was canceled.',
  limit: (minutes: number) => `You can upload ten packages an hour. Try again in ${s(minutes, 'minute')}.`,
  same: 'The SHA-256 of the file and of the daemon are the same.',
  different:
    'The daemon stored something else than this file. Do not distribute it; upload the file under another version.',
  notCompared: 'The package is stored. The file could not be read again, so its SHA-256 was not compared.',
  ofFile: 'SHA-256 of the file',
  ofDaemon: 'SHA-256 of the daemon',
  uploaded: (id: string) => `Uploaded as ${id}`,
};

/** The page Users. */
export const users = {
  title: 'Users',
  total: (count: number) => s(count, 'user'),
  column: { name: 'Name', role: 'Role', email: 'E-mail', state: 'State', since: 'Created' },
  state: { enabled: 'enabled', disabled: 'disabled', removed: 'removed' },
  you: 'you',
  action: {
    create: 'Create user',
    edit: 'Edit',
    password: 'Password',
    logout: 'Log out',
    disable: 'Disable',
    enable: 'Enable',
  },
  of: {
    edit: (name: string) => `Edit ${name}`,
    password: (name: string) => `Password of ${name}`,
    logout: (name: string) => `Log out ${name}`,
    disable: (name: string) => `Disable ${name}`,
    enable: (name: string) => `Enable ${name}`,
  },
  ask: {
    logout:
      'All sessions of this user end at once, on every machine. The password stays as it is. Service tokens are not affected.',
    disable:
      'The user can no longer sign in, and all sessions end at once. What the user did stays in the audit log. You can enable the user again.',
    enable: 'The user can sign in again with the same password.',
  },
  own: 'This session ends, too: sign in again afterwards.',
  ownRole: 'You cannot change your own role here. Another administrator can.',
  username: 'User name',
  usernameShape: 'ASCII letters, digits and - _ . @',
  email: 'E-mail (optional)',
  current: 'Your current password',
  password: 'New password',
  repeat: 'Repeat the password',
  different: 'The two passwords differ.',
  passwordEnds: 'All sessions of this user end at once.',
  done: {
    create: (name: string) => `${name} was created.`,
    edit: (name: string) => `${name} was changed.`,
    password: (name: string) => `${name} has a new password.`,
    logout: (name: string) => `${name} is logged out everywhere.`,
    disable: (name: string) => `${name} is disabled.`,
    enable: (name: string) => `${name} is enabled.`,
  },
};

/** The page Tokens. */
export const tokens = {
  title: 'Service tokens',
  hint: 'A service token is for a program that would otherwise need the password of a person.',
  total: (count: number) => s(count, 'token'),
  empty: 'No token has been created yet.',
  column: {
    name: 'Name',
    role: 'Role',
    may: 'Permissions',
    state: 'State',
    expires: 'Expires',
    used: 'Last used',
    networks: 'Accepted from',
    by: 'Created by',
  },
  action: { create: 'Create token', revoke: 'Revoke' },
  of: { revoke: (name: string) => `Revoke ${name}` },
  state: { valid: 'valid', expired: 'expired', revoked: 'revoked' },
  anywhere: 'any network',
  permissions: 'Permissions besides the role',
  permission: {
    webhooks: 'Webhooks',
    policies: 'Policies',
    scim: 'SCIM (reserved: not served yet)',
  },
  nothing: 'none',
  name: 'Name',
  nameHint: 'of the program or the station',
  days: (min: number, max: number) => `Valid for days (${min} to ${max})`,
  networks: 'Accepted only from these networks (optional)',
  networksHint: 'One CIDR per line, such as 10.20.0.0/16. Leave it empty to allow any network.',
  created: (name: string) => `Token ${name}`,
  once: 'Copy the token now: it is not shown again. The registry keeps a digest of it only.',
  askClose: 'The token has not been copied. It is not shown again after this dialog is closed.',
  keepOpen: 'Keep it open',
  closeUncopied: 'Close without a copy',
  token: 'Token',
  until: (role: string, time: string) => `Role: ${role}. Valid until ${time}.`,
  askRevoke: 'The next request with this token is refused, and its streams end. A revoked token stays revoked.',
  madeBy: (name: string) => `Made with ${name}`,
  askRemove: 'The token is revoked. These webhooks were made with it and still receive events:',
  removeMade: 'Remove webhooks',
  removeLater: 'To remove them later:',
  removed: (name: string) => `${name} is revoked, and its webhooks are removed.`,
  revoked: (name: string) => `${name} is revoked.`,
};

/** The bench. */
export const webhooks = {
  title: 'Webhooks',
  hint: 'Each event of the registry is posted to these addresses, in order and signed.',
  total: (count: number) => s(count, 'webhook'),
  empty: 'No webhook has been created yet.',
  column: {
    url: 'Address',
    types: 'Events',
    state: 'State',
    waiting: 'Waiting',
    delivered: 'Last delivered',
    by: 'Created by',
  },
  action: {
    create: 'Create webhook',
    deliveries: 'Deliveries',
    test: 'Test',
    disable: 'Disable',
    enable: 'Enable',
    remove: 'Remove',
  },
  of: {
    deliveries: (url: string) => `Deliveries to ${url}`,
    test: (url: string) => `Test ${url}`,
    disable: (url: string) => `Disable ${url}`,
    enable: (url: string) => `Enable ${url}`,
    remove: (url: string) => `Remove ${url}`,
  },
  ask: {
    test: 'A signed message of the type WEBHOOK_TEST is posted once.',
    disable: 'Nothing is posted until it is enabled. Events that happen in between wait.',
    enable: 'The event after the last delivered one is posted at once, then the later ones.',
    remove:
      'The secret and the list of deliveries are deleted, and events that wait are not posted. This is permanent.',
  },
  done: {
    create: (url: string) => `${url} was created.`,
    test: (url: string, milliseconds: number) => `${url} took the message in ${grouped(milliseconds)} ms.`,
    disable: (url: string) => `${url} is disabled.`,
    enable: (url: string) => `${url} is enabled.`,
    remove: (url: string) => `${url} is removed.`,
  },
  notTaken: (url: string, reason: string) => `${url} did not take the message: ${reason}.`,
  state: { active: 'active', retrying: 'retrying', disabled: 'disabled' },
  failures: (count: number) => `${s(count, 'failed attempt')}, next:`,
  all: 'all',
  waiting: (count: number) => (count < 100 ? `${count}` : '100 or more'),
  types: 'Only these events (none chosen: all)',
  ownSecret: 'Secret of your own, whsec_… (optional)',
  created: (id: string) => `Webhook ${id}`,
  once: 'Copy the secret now: it is not shown again. The endpoint checks signatures with it.',
  secret: 'Secret',
  attempts: (count: number) => `The last ${count} attempts, the latest first.`,
  noAttempt: 'Nothing has been posted yet.',
  attempt: { at: 'Time', event: 'Event', attempt: 'Attempt', result: 'Result' },
  delivered: 'delivered',
  failed: 'failed',
};

export const bench = {
  title: 'Bench',
  intro: 'A person, a key, unplug: the key is registered and activated for the person.',
  sound: 'Sound',
  notAllowed: 'Your role allows you to look, not to enroll keys. An administrator can give you the role DEALER.',
  elsewhere: {
    none: 'This daemon does not look for keys: it was started for the registry alone.',
    unavailable: 'This daemon finds no keys on its machine:',
    command: 'At the station where keys are plugged in, enroll with the command line:',
    again: 'Look again',
  },
  call: { roster: 'User id or name', open: 'User id of the person', submit: 'Call', hint: 'Type it, or scan a badge.' },
  stage: {
    label: 'Key and person',
    unnamed: 'Scan a badge or type a person',
    all: 'All people of the roster have their keys',
    keyOf: (number: number, all: number) => `key ${grouped(number)} of ${grouped(all)}`,
    emptyOpen: 'Then plug in the key.',
    wait: 'WAIT',
    asideOpen: 'A key is plugged in. Scan the badge of its person, or type the person.',
    bind: 'Bind (Enter)',
    undo: 'Undo (Esc)',
    skip: 'Skip this person',
    redo: 'Back to the last person',
    ignore: 'Ignore',
    ignoreKey: (key: string) => `Ignore ${key}`,
    ignored: (count: number) => `Ignored until unplugged: ${grouped(count)}`,
    unreadable: 'key without a readable serial number',
    unregistered: 'not registered',
    keys: 'Keys that are plugged in',
    simulated: 'simulated',
  },
  roster: {
    title: 'Roster',
    file: 'CSV file with the columns userId, name, count and type',
    hint: 'Only userId is required. The file is read in this browser and sent nowhere.',
    remove: 'Remove the roster',
    unused: (columns: readonly string[]) => `Columns that are not used: ${columns.join(', ')}.`,
  },
};

/** A run at the bench: what is decided and listed. */
export const benchRun = {
  stage: {
    empty: (person: string) => `Plug in a key for ${person}.`,
    checking: 'Checking the key … If it blinks, touch it.',
    pass: 'PASS',
    ready: (person: string) => `Unplug the key or press Enter: it will be bound to ${person}. Esc undoes.`,
    fail: 'FAIL',
    still: (person: string) => `Nothing is bound. ${person} still needs a key.`,
    committing: 'Binding …',
    away: 'The daemon does not answer. The binding is sent again when it does, once.',
    bound: 'BOUND',
    boundTo: (key: string, person: string) => `${key} is bound to ${person} and active.`,
    stop: 'STOP',
    crowded: 'Two keys are plugged in: nothing is bound. Remove both, or ignore one of them.',
    aside: 'A key is plugged in, and it is not known for whom. Unplug it and plug it in again, or scan a badge.',
    held: 'Nothing is bound until a valid badge is scanned or Esc is pressed.',
  },
  check: { serial: 'Serial number', type: 'Type', free: 'Free to be bound', proof: 'Proof' } satisfies Words<CheckName>,
  passed: 'pass',
  failed: 'fail',
  code: 'The key is registered, but not active. Its activation code, shown only here:',
  roster: {
    progress: (finished: number, all: number) => `${grouped(finished)} of ${grouped(all)} rows done`,
    skipped: (count: number) => `${grouped(count)} skipped`,
    waiting: 'Next',
    more: (count: number) => `and ${grouped(count)} more`,
  },
  failure: {
    'serial number unreadable': 'The serial number cannot be read.',
    'wrong type': 'The person gets a key of another type.',
    'counted before': 'This key was bound in this run before. Use another key.',
    'bound to another person': 'This key is already registered and bound to another person.',
    LOCKED: 'This key is already registered and locked.',
    DEACTIVATED: 'This key is already registered and retired.',
    'pulled too early': 'The key was unplugged before its check had ended. Plug it in again.',
    refused: 'The registry refuses it.',
    proof: 'It does not prove what the registry requires:',
    'no answer': 'The daemon does not answer.',
  } satisfies Words<KeyFailure>,
  said: {
    'two keys': 'Two new keys at once: nothing is bound.',
    undone: 'Undone: nothing was written. Unplug the key.',
    skipped: 'Skipped. A badge comes back to this person.',
    redo: 'Back to the last person. Unplug the key.',
    'redo of a binding': 'Back to the last person, for another key. The first key stays bound.',
    'nothing to redo': 'Only the last person can be done again, before the next key is bound.',
    'nothing to confirm': 'Nothing to confirm: no key has passed its check.',
    'nothing confirmed yet': 'Enter came right after another key: nothing is bound. Press Enter again.',
    'nothing to undo': 'Nothing to undo: what is bound is not undone here.',
    badge: 'Badge accepted.',
    'badge incomplete': 'The scan was incomplete: scan the badge again.',
    'unplugged during a scan': 'The key was unplugged during a scan: nothing is bound. Plug it in again.',
    'badge unknown': 'This is not a user id or a name that the bench knows.',
    'badge of several': 'Several people of the roster have this name: scan a user id.',
    'badge of a person who is done': 'This person has all keys of the roster.',
    lost: 'The connection was lost: nothing is bound. Plug the key in again.',
  } satisfies Words<Remark>,
  results: {
    title: 'Results',
    passed: 'passed',
    failed: 'failed',
    yield: 'yield',
    perHour: 'keys per hour',
    newest: 'The newest 20 results',
    time: 'Time',
    person: 'Person',
    serial: 'Serial number',
    device: 'Device',
    result: 'Result',
    bound: 'bound',
    download: 'Download as CSV',
    clear: 'Clear the results',
  },
};

/** Why a file is not a roster. */
export const rosterFaults = {
  /** What is wrong with the file, or with the line that it names. */
  of: ({ fault }: FileFault): string => {
    switch (fault.what) {
      case 'column twice':
        return `two columns for ${fault.column}`;
      case 'column missing':
        return 'the column userId is missing';
      case 'cells':
        return `it has ${fault.found} cells, the header row ${fault.expected}: does a cell contain a comma and no quotes?`;
      case 'userId':
        return fault.text === '' ? 'userId is empty' : `${fault.text} is not a valid userId`;
      case 'name':
        return `name has more than ${rosterBounds.name} characters`;
      case 'type':
        return 'type must be UKEY or SIMKEY';
      case 'count':
        return `count must be a whole number from 1 to ${rosterBounds.keys}`;
      case 'person twice':
        return `${fault.userId} is already in line ${fault.earlier}`;
      case 'lines':
        return `a roster has at most ${grouped(rosterBounds.lines)} lines`;
      case 'open quote':
        return 'a quote is opened and never closed';
      case 'text after quote':
        return 'text follows a closing quote';
      case 'encoding':
        return `it is not valid ${fault.encoding.toUpperCase()}. Save the file as UTF-8 (in Excel: CSV UTF-8), or choose its encoding.`;
      case 'empty':
        return 'The file has no people.';
      case 'too large':
        return 'The file is too large for a roster.';
      case 'unreadable':
        return 'The file cannot be read.';
    }
  },
  line: (line: number, problem: string) => `Line ${grouped(line)}: ${problem}`,
  encoding: 'Encoding of the file',
  readAgain: 'Read the file again',
};
