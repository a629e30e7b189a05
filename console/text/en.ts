/**
 * The English texts of the console, by page. The other languages have the same entries, which the type checker compares. An entry
 * is a text, or a function of the values that it contains.
 */

import { Code, type ErrorCode } from '../../src/contract/codes.ts';
import { eventTitles } from '../../src/contract/event-types.ts';
import type { DriverStatus } from '../../src/contract/hardware.ts';
import { type ProviderCheckName, statisticsRange } from '../../src/contract/values.ts';
import type { IssueProblemCode } from '../../src/enrollment/issue-step.ts';
import type { PinFault } from '../../src/enrollment/key-pin.ts';
import type { CheckName } from '../../src/enrollment/line/checks.ts';
import type { Remark } from '../../src/enrollment/line/events.ts';
import { type FileFault, rosterBounds } from '../../src/enrollment/line/roster.ts';
import type { KeyFailure } from '../../src/enrollment/outcome.ts';
import type { ForeignKind, InputFault } from '../../src/tables/fault.ts';
import type { Preset } from '../../src/tables/presets.ts';
import { counted, type DistanceUnit, duration, grouped, plural, twoDigits } from './numbers.ts';

/** The words for each entry of a set. */
type Words<K extends string> = Readonly<Record<K, string>>;

const s = (count: number, one: string, many = `${one}s`) => counted(count, one, many);

/** Words of every page. */
export const common = {
  nav: {
    label: 'Pages',
    skip: 'Skip to the content',
    find: 'Find',
    control: 'Ctrl',
    group: { devices: 'Devices', line: 'Line', administration: 'Administration' },
    overview: 'Overview',
    devices: 'Devices',
    station: 'Station',
    activity: 'Activity',
    lots: 'Lots',
    stations: 'Stations',
    cleanup: 'Cleanup',
    packages: 'Packages',
    people: 'People',
    users: 'Accounts',
    tokens: 'Tokens',
    policies: 'Policies',
    trust: 'Trust',
    webhooks: 'Webhooks',
    providers: 'Providers',
    cases: 'Open cases',
    import: 'Import devices',
    health: 'Health',
    account: 'Account',
    terminal: 'Sign in a terminal',
    me: 'My keys',
  },
  stream: {
    connecting: 'connecting …',
    live: 'live',
    lost: 'Connection lost: what you see may be out of date. Reconnecting …',
  },
  problem: {
    title: 'Something went wrong',
    noAnswer: 'The daemon does not respond. Check that it is running, then try again.',
    limited: (seconds: number) => `Too many requests. Retrying in ${s(seconds, 'second')}.`,
    /** A refusal in the words of the language; `message` is that of the daemon, in English. */
    refusal: (code: ErrorCode, message: string): string =>
      code === Code.noPermission ? `Your role does not allow this. ${message}` : message,
    /** Label of the daemon's own message, if `refusal` has other words. */
    original: 'Message of the daemon',
    requestId: (id: string) => `Request ${id}`,
    retry: 'Try again',
    keyKnown: 'This key is already registered.',
    noKey: 'No security key was used. The request was canceled, timed out, or no key matched. Try again.',
    keyAddress:
      'You must sign in with a security key, but browsers do not support them at this address. Open the console over HTTPS or at localhost.',
    atLocalhost: 'Use a security key at localhost',
    notLoaded: 'This part of the console could not be loaded. It loads when the connection is back.',
    crashed: 'This page crashed. Reload it; the registry is not affected.',
  },
  common: {
    cancel: 'Cancel',
    close: 'Close',
    save: 'Save',
    loading: 'Loading …',
    updating: 'Updating …',
    none: 'None',
    unknownPage: 'This page does not exist.',
    unknownRecord: 'This record does not exist, or it was removed.',
    never: 'never',
    /** Below a number. */
    peek: 'Show beside the list',
    deviceCount: 'devices',
    filters: 'Filters',
    columns: 'Columns',
    order: 'Order',
    previous: 'Previous',
    next: 'Next',
    copy: 'Copy',
    actions: 'Actions',
    addDevice: 'Add device',
    change: 'Change',
    signInWith: (provider: string) => `Sign in with ${provider}`,
    of: (action: string, name: string) => `${action} ${name}`,
    optional: (name: string) => `${name} (optional)`,
    actionsFor: (name: string) => `Actions for ${name}`,
    copied: 'Copied',
    devices: (count: number) => s(count, 'device', 'devices'),
    stillLocked: (devices: string) => `devices still locked: ${devices}`,
    times: (count: number) => `${grouped(count)} times`,
    distance(count: number, unit: DistanceUnit) {
      if (count === 0) return 'now';
      return count < 0 ? `${s(-count, unit)} ago` : `in ${s(count, unit)}`;
    },
    /** A date in local time, as Intl writes it. */
    day(iso: string) {
      const date = new Date(iso);
      const [, month, , year] = date.toDateString().split(' ');
      return `${month} ${date.getDate()}, ${year}`;
    },
    /** A day and hour in local time, as Intl writes them. */
    hour(iso: string) {
      const time = new Date(iso);
      const hours = time.getHours();
      const clock = `${twoDigits(hours % 12 || 12)}:${twoDigits(time.getMinutes())} ${hours < 12 ? 'AM' : 'PM'}`;
      return `${time.toDateString().slice(0, 3)} ${clock}`;
    },
    noEvents: 'No events yet.',
    page: (page: number, pages: number) => `Page ${grouped(page)} of ${grouped(pages)}`,
  },
  /** Column headers and labels that several pages share. */
  column: {
    device: 'Device',
    serial: 'Serial number',
    type: 'Type',
    manufacturer: 'Manufacturer',
    model: 'Model',
    state: 'State',
    user: 'Person',
    registered: 'Registered',
    used: 'Last used',
    proof: 'Proof',
    tags: 'Tags',
    name: 'Name',
    userName: 'User name',
    role: 'Role',
    email: 'E-mail',
    by: 'Created by',
    time: 'Time',
    person: 'Person',
    result: 'Result',
    file: 'File',
    size: 'Size',
    note: 'Note',
    code: 'Activation code',
    reason: 'Reason',
  },
  role: { ADMIN: 'administrator', DEALER: 'dealer', VIEWER: 'viewer', HOLDER: 'holder' },
  menu: {
    keys: 'Password and security keys',
    signOut: 'Sign out',
    theme: 'Colors',
    light: 'Light',
    dark: 'Dark',
    system: 'As the system',
    language: 'Language',
  },
  toast: { region: 'Notifications', undo: 'Undo', dismiss: 'Dismiss' },
  status: { INACTIVE: 'inactive', ACTIVE: 'active', LOCKED: 'locked', DEACTIVATED: 'retired' },
  type: { UKEY: 'USB key', SIMKEY: 'SIM key' },
  event: { ...eventTitles, DEVICE_DEACTIVATED: 'retired' },
  history: { title: 'History', older: 'Older events', begin: 'No older events.' },
  /** Actions on records of several kinds, and their reports. */
  record: {
    action: { remove: 'Remove', test: 'Test', download: 'Download' },
    done: { remove: (name: string) => `${name} is removed.` },
  },
  who: {
    by: (kind: string) => `by ${kind}`,
    kind: {
      user: '',
      token: 'the service token ',
      daemon: 'the program ',
      directory: 'the directory ',
      provider: 'the provider ',
    },
    changes: 'What was changed',
    field: {
      note: 'Note',
      personId: 'Person',
      issuer: 'Issuer',
      tags: 'Tags',
      firmwareVersion: 'Firmware version',
      userId: 'User name',
      username: 'Name',
      disabled: 'Disabled',
      enabled: 'Enabled',
      password: 'Password',
      passwordHash: 'Hash of the password',
      secret: 'Secret',
      revoked: 'Revoked',
      owner: 'Owner',
      until: 'Until',
      url: 'Address',
      requireKey: 'Key required of',
      personsRequired: 'Persons required',
    },
    /** Values of settings that are the same everywhere. */
    value: { true: 'yes', false: 'no', changed: 'changed', set: 'set' },
    /** Policies and settings. */
    about: {
      'sign-in': 'sign-in',
      people: 'persons',
      proof: 'proofs',
      pin: 'PINs',
      trust: 'trust',
      'signing-key': 'signing key of tokens',
      'journal-key': 'key of the journal',
      restore: 'restored from a backup',
      sso: 'single sign-on',
    },
  },
  grade: { none: 'unproved', claimed: 'claimed', model: 'model proved', unit: 'unit proved', failed: 'failed' },
  action: {
    LOCK: 'Lock',
    UNLOCK: 'Unlock',
    ACTIVATE: 'Activate',
    GENERATE_CODE: 'New code',
    DEACTIVATE: 'Retire',
    UPDATE: 'Tags',
  },
};

/** Name of a page: in the navigation, and the first part of its address. */
export type PageName = Exclude<keyof typeof common.nav, 'label' | 'skip' | 'find' | 'control' | 'group'>;

/** The first page, with its charts. */
export const overview = {
  perHour: 'Registrations per hour',
  perDay: 'Registrations per day',
  states: 'Devices in each state',
  attention: {
    title: 'Needs attention',
    none: 'Nothing needs attention.',
    codes: (count: number) =>
      `${plural(count, 'activation code that expires', 'activation codes that expire')} within ${statisticsRange.dueDays} days, or ${plural(count, 'has', 'have')} expired`,
    advisory: (count: number, advisory: string) => `${plural(count, 'key', 'keys')} affected by ${advisory}`,
    webhooks: (count: number) => `failing ${plural(count, 'webhook', 'webhooks')}`,
    removals: (count: number) => `${plural(count, 'credential', 'credentials')} still accepted by providers`,
    held: (count: number): string =>
      plural(count, 'leaver whose devices await a release', 'leavers whose devices await a release'),
    shipments: (count: number): string =>
      plural(count, 'key was sent and is not confirmed', 'keys were sent and are not confirmed'),
    unused: `active, not used for ${statisticsRange.unusedDays} days`,
  },
  by: { manufacturer: 'Manufacturer', model: 'Model', lot: 'Lot', site: 'Site', station: 'Station' },
  types: { UKEY: 'USB keys', SIMKEY: 'SIM keys' },
  week: 'Compared with a week ago:',
  newest: 'Latest events',
  chart: {
    sum: (count: number) => `${grouped(count)} in total`,
    table: 'Show as a table',
    count: 'Registrations',
  },
};

/** Lists of receipts. */
export const receipts = {
  title: 'Receipts',
  none: 'No receipts.',
  overdue: 'Overdue loans',
  kind: { handover: 'Handover', loan: 'Loan', return: 'Return' },
  column: { kind: 'Kind', device: 'Device', person: 'Person', date: 'Date', due: 'Due', receipt: 'Receipt' },
  more: (count: string) => `${count} more: devmgr receipts list`,
};

/** The page of people with the role HOLDER. */
export const holder = {
  none: 'You have no keys.',
  fact: { serialNumber: 'Serial number', signsInAt: 'Signs in at', shippedAt: 'Sent', receivedAt: 'Arrived' },
  next: {
    none: 'It works.',
    receive: 'It was sent to you. When you have it, confirm with a touch.',
    help: 'It is locked. Ask the service desk for help.',
    return: 'It is out of use. Give it back.',
  },
  received: 'I have it',
  confirmed: (device: string) => `The arrival of ${device} is confirmed.`,
  elsewhere: 'This browser cannot ask the key. Go to the service desk: a touch there confirms that you have it.',
  lost: 'I lost it',
  lostTitle: (device: string) => `I lost ${device}`,
  lostEffect: 'It is locked at once, and providers stop accepting it. Only the service desk can unlock it.',
  reason: 'What happened?',
  reported: (device: string) => `${device} is locked. The service desk is notified.`,
  history: 'History',
};

/** The page Activity. */
export const activity = {
  search: { deviceId: 'Device', actor: 'Account or program', from: 'From (day)', to: 'Until (day)' },
  show: 'Show',
  all: 'Everything',
  kinds: { devices: 'Devices and persons', administration: 'Administration' },
  export: 'Export as CSV',
  exported: (count: number, hasMore: boolean) =>
    `${s(count, 'event', 'events')} saved${hasMore ? '; choose days to save older ones' : ''}.`,
  earlier: 'Earlier events',
  whole: 'This is the first event.',
  /** Fields of changes that no page sets. */
  field: {
    required: 'Key required',
    exempt: 'No key required',
    certificates: 'Certificates',
    removed: 'Removed',
    restoredTo: 'Restored up to',
  },
};

/** Roles, and what they allow. */
export const roles = {
  ADMIN: 'Full access.',
  DEALER: 'Manages devices and their backups, but not accounts, tokens and uploads.',
  VIEWER: 'Read-only, without activation codes.',
};

/** Entries for an action on devices. */
export const entries = {
  reason: 'Reason',
  note: 'Note (optional)',
  validityDays: 'Days until the code expires',
  password: 'Administrator password',
  byProvider:
    'You have no password here: your sign-in at the provider confirms this. If it is older than ten minutes, you sign in there again.',
  userId: 'Person',
  unknownPerson: 'Choose a person from the list: no active person has this user name.',
  activationCode: 'Activation code',
  setTags: 'Tags to set, one name:value per line',
  removeTags: 'Names of tags to remove, separated by spaces',
  final: 'A retired device can never be used again.',
};

/** Signing in. */
export const signIn = {
  signIn: {
    password: 'Password',
    submit: 'Sign in',
    expired: 'Your session has ended. Sign in again.',
    code: 'This link was already used or has expired. Run devmgr open again, or sign in.',
    wrong: 'The user name or password is wrong.',
    withKey: 'Sign in with a security key',
    registered: 'The key is registered. Sign in again.',
    local: { before: 'On the machine of the daemon,', after: 'opens this page signed in.' },
  },
  stepUp: {
    title: 'Sign in again',
    why: 'This change requires a sign-in within the last ten minutes.',
    wrong: 'The password is wrong.',
    withKey: 'Use a security key',
  },
  /** Why a sign-in at the provider failed. */
  provider: {
    away: 'The provider does not respond. Try again later, or sign in with a local account.',
    busy: 'Too many sign-ins at the provider at once. Try again later.',
    client: 'The provider does not accept this registry. Ask an administrator.',
    denied: 'The provider refused the sign-in.',
    disabled: 'Your account is disabled here. Ask an administrator.',
    groups: 'None of your groups has access to this registry. Ask an administrator.',
    key: 'Your account must sign in with a security key, but the provider does not report that you used one.',
    other: 'You cannot be signed in with the role that your groups now have. Ask an administrator.',
    overage: 'You are in so many groups that the provider does not send them. Ask an administrator.',
    state: 'This sign-in was not started in this browser, was already used, or timed out. Try again.',
    token: 'The response of the provider is not valid. Ask an administrator.',
  },
};

/** Why a button cannot be pressed yet. */
export const approval = {
  wait: 'You can confirm one second after this window comes to the front.',
  opened:
    'Another page opened this tab and can change what it shows, so nothing can be confirmed here. Open the console in a new tab.',
};

/** The question whether a link may sign the tab in. */
export const offer = {
  title: (name: string, host: string) => `Continue as ${name} on ${host}?`,
  why: 'A link opened this page with this account. Continue only if the account is yours: your actions are recorded under its name.',
  present: (name: string) => `This tab is signed in as ${name}. If you continue, that session ends in this tab.`,
  accept: (name: string) => `Continue as ${name}`,
  refuse: 'Do not continue',
  stay: (name: string) => `Stay signed in as ${name}`,
  invalid: 'This link is not valid',
};

/** The account of the person. */
export const account = {
  mustRegister: 'You must sign in with a security key, but you have none yet. Register one, then sign in again.',
  title: 'Security keys',
  keysHint:
    'Sign in with a key instead of your password, or as a second step. A key works only at the address at which it was registered.',
  noKeys: 'You have no security keys yet.',
  noneOfUser: 'This account has no security keys.',
  password: 'Change password',
  column: { name: 'Name of the key', site: 'Works at' },
  of: { remove: (name: string) => `Remove the key ${name}` },
  ask: { remove: 'It can no longer be used to sign in. To use it again, register it as a new key.' },
  keyExample: 'for example: desk',
  add: 'Register a key',
  cannot:
    'Browsers support security keys only over HTTPS and at localhost. Open the console at such an address to register one.',
  requireOwn: 'Require a key at each sign-in of this account',
};

/** The page that signs in a terminal. */
export const terminal = {
  code: 'Code shown by the terminal',
  show: 'Continue',
  name: 'Name given by the terminal',
  address: 'Address of the terminal',
  asked: 'Requested',
  warning: 'Approve only if you have just run devmgr login --web and its terminal shows this code.',
  account: 'Account',
  compare:
    'Confirm only if you have just run devmgr login --sso on this computer and its terminal shows this code. Otherwise someone else gets your rights: close this page.',
  over: 'This page was already used, or the sign-in took too long. Run devmgr login --sso again.',
  effect: (user: string) => `The terminal will be signed in as ${user}.`,
  approve: 'This is my terminal: sign it in',
  done: 'The terminal is signed in. You can close this page.',
  unknown:
    'No terminal is waiting for this code: it is wrong, was already used, or is older than five minutes. Compare it with the terminal, or run devmgr login --web again.',
};

/** The list of devices. */
export const devices = {
  import: 'Import a file',
  searchHint: 'id, serial number, person, model, tag …',
  persons: 'Matching persons',
  views: 'Views',
  every: 'All',
  saveView: 'Save as view',
  viewName: 'Name of the view',
  viewHint: 'This browser stores the name, the search and the columns. The address shows them to anyone who sees it.',
  removeView: (name: string) => `Remove the view ${name}`,
  applied: 'Active filters',
  filter: {
    search: 'Search',
    keyword: 'Id or serial number',
    status: 'State',
    deviceType: 'Type',
    proof: 'Proof',
    tag: 'Tag',
    manufacturer: 'Manufacturer (exact)',
    model: 'Model (exact)',
    userId: 'Person (exact)',
    serialNumber: 'Serial number (exact)',
    aaguid: 'AAGUID',
    advisory: 'Advisory',
    createdFrom: 'Registered from',
    createdTo: 'Registered until',
    lastUsedBefore: 'Unused since',
    codeExpiresBefore: 'Code expires before',
  },
  removeFilter: (name: string) => `Remove the filter ${name}`,
  removeFilters: 'Clear all filters',
  selected: (count: number, total: number) => `${grouped(count)} of ${s(total, 'device')} selected`,
  allSelected: (total: number) => `All ${s(total, 'matching device')} selected`,
  select: (id: string) => `Select ${id}`,
  selectPage: 'Select all on this page',
  selectAll: (total: number) => `Select all ${grouped(total)} matching`,
  clear: 'Clear selection',
  changes: (count: number) => `${s(count, 'other device')} changed. Show`,
  empty: 'No devices match.',
  export: (format: string) => `Export ${format}`,
  exporting: 'Exporting …',
};

/** Adding a device. */
export const adding = {
  title: 'Add a device',
  submit: 'Add',
  plugged: 'Key at the machine of the daemon',
  byHand: 'none: enter the data',
  plugIn: 'To choose a new key here, plug it into the machine of the daemon.',
  tags: 'Tags, one per line, such as lot:7 (optional)',
  added: (id: string) => `${id} was added`,
  activated: (userId: string) => `Activated for ${userId}.`,
  another: 'Add another',
  open: 'Open the device',
};

/** Why a file has no rows that can be read. */
const fileFaults = {
  empty: 'The file is empty.',
  'no rows': 'The file has no devices after the names of the columns.',
  'all left out': 'No line is left.',
  header: 'The first line must contain the names of the columns.',
  'columns absent': 'The file does not have these columns:',
  'fields missing': 'No column and no value is assigned to:',
  'column twice': 'Two columns can be meant. Assign one of them:',
  'tag name': 'This column is not a valid tag name:',
  array: 'This is not a valid JSON array.',
  'too long': 'A line is longer than 1 MiB.',
  foreign: 'This file has no rows that can be read:',
  workbook: 'The workbook cannot be read.',
  xml: 'The only XML files that can be read are key packages (PSKC): choose that source above.',
  pskc: 'These are not valid key packages.',
  'no packages': 'The file has no key packages.',
} satisfies Words<InputFault['what']>;

/** Kinds of files that cannot be read as rows, and what to do with each. */
const foreignFiles = {
  html: 'it is an HTML page. Export it as CSV (in ServiceNow: Export > CSV), or save it in Excel as .xlsx.',
  xls: 'it is a workbook of Excel 97 to 2003. Save it in Excel as .xlsx or as CSV UTF-8.',
  'xml workbook': 'it is an XML spreadsheet of 2003. Save it in Excel as .xlsx or as CSV UTF-8.',
  'locked workbook': 'the workbook has a password. Remove it in Excel, and save the workbook.',
  opendocument: 'it is an OpenDocument spreadsheet. Save it in LibreOffice as CSV or as .xlsx.',
  numbers: 'it is a spreadsheet of Numbers. Export it as CSV.',
  zip: 'it is a ZIP archive. Unpack it, and choose the file in it.',
  gzip: 'it is compressed with gzip. Unpack it.',
  pdf: 'it is a PDF document. Ask for the list as CSV or .xlsx.',
  binary: 'it is not a text file.',
} satisfies Words<ForeignKind>;

/** The import of a file of devices. */
export const importing = {
  hint: 'Registers the devices in a file. The file is read in this browser; columns with secrets are never sent.',
  fileHint: 'CSV with a header row, Excel (.xlsx), JSON, JSON lines, or key packages (PSKC).',
  interrupted: (name: string) =>
    `The import of ${name} was interrupted. Choose the file again to continue: no device is registered twice, and the results contain all activation codes.`,
  preset: 'Source of the file',
  presets: {
    '': 'other: the columns are named like the fields',
    yubico: 'Yubico: serial numbers or key provisioning',
    'entra-oath': 'Microsoft Entra: OATH tokens',
    privacyidea: 'privacyIDEA: OATH tokens',
    'snipe-it': 'Snipe-IT: assets',
    pskc: 'key packages (PSKC, XML)',
  } satisfies Words<Preset | ''>,
  columns: 'Names of the columns, if the file has no header row',
  columnsHint: 'serialNumber,-,model: in their order, - for one that is not read',
  where: 'Only lines with COLUMN=VALUE',
  whereHint: 'Category=Security keys; Status=In stock: several for one column allow each of the values',
  column: { name: 'Column', example: 'First line', field: 'Field' },
  fieldOf: (column: string) => `Field for the column ${column}`,
  ignored: 'ignored',
  tag: (name: string) => `tag ${name}`,
  missing: 'is missing',
  secret: 'contains secrets: not sent',
  defaults: 'Values for lines that lack them',
  noDefault: 'none',
  asIs: 'Take numbers as they are, also those that a spreadsheet seems to have changed',
  check: 'Check the file',
  reading: (count: number) => `Checking: ${s(count, 'line')} …`,
  plan: 'What would happen',
  planned: (count: number) => `${s(count, 'device')} would be registered. Nothing has changed yet.`,
  start: (count: number) => `Register ${s(count, 'device')}`,
  done: (count: number) => `${s(count, 'device')} registered.`,
  codes: 'The results file contains the activation codes. Keep it safe.',
  noted: 'Lines that are not new',
  kind: {
    new: 'new',
    added: 'registered',
    exists: 'already registered',
    repeated: 'repeated',
    differs: 'differs from the registry',
    refused: 'refused',
  },
  line: 'Line',
  fault: fileFaults,
  foreign: foreignFiles,
};

/** Bulk operations. */
export const bulk = {
  counting: (count: number) => (count ? `Counting: ${s(count, 'device')} …` : 'Counting …'),
  what: 'Action',
  changed: 'will be changed',
  skipped: 'skipped: not allowed in this state',
  preview: {
    LOCK: (count: number) => `${s(count, 'device')} will be locked.`,
    UNLOCK: (count: number) => `${s(count, 'device')} will be unlocked.`,
    GENERATE_CODE: (count: number) => `${s(count, 'device')} will get a new code. Earlier codes become invalid.`,
    DEACTIVATE: (count: number) => `${s(count, 'device')} will be retired.`,
    UPDATE: (count: number) => `The tags of ${s(count, 'device')} will be changed. Other tags stay.`,
  },
  start: {
    LOCK: (count: number) => `Lock ${s(count, 'device')}`,
    UNLOCK: (count: number) => `Unlock ${s(count, 'device')}`,
    GENERATE_CODE: (count: number) => `Replace ${s(count, 'code')}`,
    DEACTIVATE: (count: number) => `Retire ${s(count, 'device')}`,
    UPDATE: (count: number) => `Change ${s(count, 'device')}`,
  },
  done: {
    LOCK: (count: number) => `${s(count, 'device')} locked.`,
    UNLOCK: (count: number) => `${s(count, 'device')} unlocked.`,
    GENERATE_CODE: (count: number) => `${s(count, 'code')} replaced.`,
    DEACTIVATE: (count: number) => `${s(count, 'device')} retired.`,
    UPDATE: (count: number) => `${s(count, 'device')} changed.`,
  },
  typeCount: (count: number) => `Type the number of devices, ${count}`,
  progress: (done: number, total: number) => `${grouped(done)} of ${s(total, 'device')}`,
  stop: 'Stop after this batch',
  stopping: 'Stopping …',
  failed: (count: number) => `${grouped(count)} failed.`,
  left: (count: number) => `${s(count, 'device')} not processed.`,
  failedTitle: 'Failed devices',
  more: (count: number) => `${grouped(count)} more in the file.`,
  download: 'Download results (CSV)',
  codes: 'New codes',
  showCodes: 'Show codes',
  hideCodes: 'Hide codes',
  downloadCodes: 'Download codes (CSV)',
};

/** The page of a device. */
export const device = {
  back: 'All devices',
  facts: {
    serialNumber: 'Serial number',
    deviceType: 'Type',
    manufacturer: 'Manufacturer',
    model: 'Model',
    hardwareVersion: 'Hardware version',
    firmwareVersion: 'Firmware version',
    user: 'Person',
    createdAt: 'Registered',
    activatedAt: 'Activated',
    lastUsedAt: 'Last used',
    uses: 'Uses',
    lockedAt: 'Locked',
    lockReason: 'Lock reason',
    deactivatedAt: 'Retired',
    shippedAt: 'Sent',
    receivedAt: 'Arrived',
    updatedAt: 'Last changed',
  },
  proof: {
    grades: {
      none: 'Nothing is known about this key.',
      claimed: 'Nothing is proved: only the key itself reports this.',
      model:
        'It is a genuine key of its model. Its serial number is not proved: other keys of the model could claim it.',
      unit: 'It is a genuine key with this serial number.',
      failed: 'The evidence contradicts the key: do not use it.',
    },
    without: 'This device was registered without a proof.',
    aaguid: 'AAGUID',
    firmware: 'Firmware',
    method: 'Method',
    root: 'Trust anchor',
    metadataNumber: 'FIDO metadata',
    provedAt: 'Checked',
    warnings: 'Warnings',
  },
  tags: {
    add: 'New tag',
    submit: 'Add',
    remove: (name: string) => `Remove the tag ${name}`,
    fault:
      'Enter name:value. A name starts with a lowercase letter and contains only lowercase letters, digits, _ and -.',
  },
  noNote: 'No note.',
  conflict: {
    title: 'Another person changed this while you were editing.',
    stored: 'Stored version',
    mine: 'Your version',
    none: 'Empty',
    keepStored: 'Keep the stored version',
    keepMine: 'Replace it with yours',
  },
  readOnly: 'Tags, note and firmware version can be changed only while the device is inactive or active.',
  code: {
    hidden: 'Hidden. When you show it, it stays visible for one minute.',
    show: 'Show code',
    hide: 'Hide code',
    expires: (time: string) => `Valid until ${time}`,
    qr: 'Activation code as a QR code',
  },
  action: {
    deviceId: (id: string) => `Type the id of the device, ${id}`,
    GENERATE_CODE: 'The current code becomes invalid.',
    LOCK: 'The device cannot be used until it is unlocked.',
    UNLOCK: 'The device can be used again.',
    ACTIVATE: 'The device is bound to the person.',
  },
  history: {
    proved: 'checked',
    used: 'last used',
    issued: 'issued at',
    removed: 'removed at',
  },
  backups: {
    title: 'Backups',
    none: 'No backups.',
    column: { at: 'Stored' },
    bytes: (count: number) => `${grouped(count)} bytes`,
    action: { restore: 'Mark as restored' },
    ask: {
      restore:
        'The daemon checks the stored file against its digest, and the journal records that it was restored. Download the file to restore the key.',
    },
    done: { restore: (name: string) => `${name} is intact and marked as restored.` },
    add: 'Add backup',
    added: (id: string) => `The backup is stored as ${id}.`,
    hint: 'An encrypted file of at most 64 MiB. The daemon does not read its contents.',
    fault: 'The file is empty or larger than 64 MiB.',
    sending: 'Uploading the backup',
    more: (count: number) => `${grouped(count)} older backups: devmgr device-backups list`,
  },
  use: {
    title: 'Record a use',
    hint: 'Adds one use and its duration to the totals of the device. Programs that use the device normally report this.',
    minutes: 'Duration in minutes',
    fault: 'Enter a number of minutes, at most 366 days.',
  },
  label: { title: 'Label', text: 'On a station with a label printer:', print: 'Print this page' },
};

/** The pages of lots and stations. */
export const line = {
  lot: {
    name: 'Lot',
    total: (count: number) => s(count, 'lot'),
    hint: 'Devices grouped by their tag lot. The page of a lot is updated while the line runs.',
    empty: 'No device has the tag lot. To set it on a line, run:',
  },
  station: {
    name: 'Station',
    total: (count: number) => s(count, 'station'),
    hint: 'Devices grouped by their tag station, which the line sets when it enrolls them.',
    empty: 'No device has the tag station. To set it on a line, run:',
  },
  tokenUsed: 'Token last used',
  none: 'No device has this tag.',
  facts: {
    first: 'First registration',
    last: 'Last registration',
    perHour: 'Devices per hour',
    median: 'Time between devices, median',
    p95: 'Time between devices, 95 %',
    persons: 'Persons',
  },
  registrations: (minutes: number) =>
    plural(minutes, 'Registrations per minute', `Registrations per ${duration(60 * minutes)}`),
  keys: 'Keys at the machine of the daemon',
  noKeys: 'No key is plugged in.',
};

/** The page Health. */
export const health = {
  summary: (count: number) =>
    count === 0 ? 'Everything works.' : `${s(count, 'part needs', 'parts need')} attention.`,
  state: { good: 'works', warn: 'needs attention', bad: 'does not work', off: 'not set up' },
  part: {
    node: 'This daemon',
    daemons: 'All daemons',
    store: 'Store',
    forwarding: 'Forwarding',
    webhooks: 'Webhooks',
    directory: 'Directory',
    providers: 'Providers',
    drivers: 'Keys at this machine',
  },
  node: (node: string, version: string, seconds: number) =>
    `${node}, devmgr ${version}, running for ${duration(Math.max(60, seconds))}.`,
  /** Words for what the daemon writes in English. */
  notReady: (reason: string): string => reason,
  noStore: (detail: string): string => detail,
  driver: (name: string, _state: DriverStatus['state'], detail: string): string => `${name}: ${detail}`,
  daemons: (count: number) => `${s(count, 'daemon uses', 'daemons use')} this registry.`,
  waiting: (count: number) =>
    `${s(count, 'entry of the journal waits', 'entries of the journal wait')} to be forwarded.`,
  failing: (count: number) => (count === 0 ? 'No webhook fails.' : `${s(count, 'webhook fails', 'webhooks fail')}.`),
  directory: (fails: boolean): string =>
    fails ? 'The last run failed: leavers are not recorded.' : 'Persons are read from it.',
  providers: (pending: number): string =>
    pending === 0
      ? 'No credentials to remove.'
      : `${s(pending, 'credential is', 'credentials are')} still to be removed.`,
  todo: {
    node: 'Do not send requests to this daemon. For the cause, see its log: devmgr daemon logs.',
    daemons: '',
    store: 'Check the disk or the database server, then: devmgr daemon check.',
    forwarding: 'If the number grows, check the receiver of --forward. Nothing is lost while it is unavailable.',
    webhooks:
      'Open the webhook under Webhooks: its history has the reasons. Fix the receiver, then enable the webhook.',
    directory: 'Open the directory under Policies to see the problem. Then read it again.',
    providers:
      'If the number does not fall, open Providers to see why a provider refuses. The registry retries the removals.',
    drivers: 'Needed only if keys are plugged in here. devmgr doctor shows the fix.',
  },
};

/** The page Cleanup. */
export const cleanup = {
  hint: 'Lock or retire devices that are not needed. The plan changes nothing; a device that changes after the plan was made is skipped.',
  filterNeeded: 'A plan needs a filter besides the state, for example:',
  unused: (days: number) => `active, not used for ${days} days`,
  plan: { lock: 'Plan: lock', deactivate: 'Plan: retire' },
  tooMany: (most: number) => `More than ${grouped(most)} devices match. Add a filter.`,
  dryRun: 'Plan',
  would: {
    lock: (count: number) => `${s(count, 'device')} would be locked`,
    deactivate: (count: number) => `${s(count, 'device')} would be retired`,
  },
  examples: 'The first devices of the plan',
  more: (count: number) => `and ${s(count, 'more device', 'more devices')}`,
  carryOut: 'Apply plan',
  changed: {
    title: (count: number) => `${s(count, 'device')} changed since the plan was made: skipped.`,
    unmatched: 'it no longer matches the filters of the plan',
    status: (before: string, now: string) => `it was ${before} and is ${now}`,
    user: (user: string) => `it is bound to ${user}`,
    used: 'it was used',
    other: 'it has changed',
    done: (state: string) => `it is already ${state}`,
  },
};

/** The page Packages. */
export const packages = {
  total: (count: number) => s(count, 'package'),
  empty: 'No package has been uploaded yet.',
  all: 'All platforms',
  column: { version: 'Version', platform: 'Platform', digest: 'SHA-256', uploaded: 'Uploaded' },
  action: { create: 'Upload package' },
  newest: 'newest',
  forced: 'forces an update',
  oldest: (version: string) => `oldest supported: ${version}`,
  changes: 'Changes',
  tooLarge: 'This browser cannot save a file of this size. On the command line:',
  saved: (name: string) => `${name} was saved; its SHA-256 matches.`,
  damaged: (name: string) =>
    `${name} was damaged in transit: its SHA-256 does not match. Nothing was saved. Download it again.`,
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
  wrongVersion: 'Enter up to four numbers separated by dots, then - or + parts, such as 1.0.0 or 1.2.0-rc.1.',
  exists: (id: string) => `This version was already uploaded as ${id}. Choose another version number.`,
  sending: (name: string) => `Uploading ${name}`,
  checking: 'The package is stored. Comparing the SHA-256 …',
  cancel: 'Cancel upload',
  canceled: 'The upload was canceled.',
  limit: (minutes: number) => `You can upload ten packages an hour. Try again in ${s(minutes, 'minute')}.`,
  same: 'The file and the daemon have the same SHA-256.',
  different: 'The daemon stored a different file. Do not distribute it; upload the file under another version.',
  notCompared: 'The package is stored. The file could not be read again, so its SHA-256 was not compared.',
  ofFile: 'SHA-256 of the file',
  ofDaemon: 'SHA-256 of the daemon',
  uploaded: (id: string) => `Uploaded as ${id}`,
};

/** The pages of persons. */
export const people = {
  total: (count: number) => s(count, 'person', 'persons'),
  empty: 'No persons match.',
  first: 'Persons come from a provider, a directory or SCIM, or are added here. Keys belong to them.',
  column: { groups: 'Groups', source: 'Source', devices: 'Devices', left: 'Left' },
  sources: { local: 'this registry', scim: 'identity provider', directory: 'directory', import: 'list' },
  state: { active: 'active', left: 'has left' },
  filter: { keyword: 'Name, e-mail or id', anySource: 'All sources', anyState: 'All states' },
  optional: { name: 'Name (optional)', email: 'E-mail (optional)' },
  action: { create: 'Add person', leave: 'Mark as left', back: 'Mark as returned', erase: 'Erase' },
  of: {
    leave: (name: string) => `Mark ${name} as left`,
    back: (name: string) => `Mark ${name} as returned`,
    erase: (name: string) => `Erase ${name}`,
  },
  ask: {
    back: 'The person can have devices again. No device is unlocked, and the account stays disabled: the page of the person lists the locked keys.',
  },
  done: {
    create: (name: string) => `${name} was added.`,
    back: (name: string) => `${name} is back.`,
    erase: (name: string) => `${name} is erased.`,
  },
  erasure: {
    goes: 'This is removed from the registry and its database, and can no longer be read in the journal:',
    devices: (count: number, id: string) =>
      count === 0
        ? 'The person has no devices.'
        : `${s(count, 'device shows', 'devices show')} ${id} instead of the name from then on:`,
    open: 'The case of this person is open. Close it first.',
    final:
      'This cannot be undone. The database is rewritten, and a large registry does not answer while that lasts. Responses that are stored for repeated requests are removed.',
    confirm: (userName: string) => `Type the user name, ${userName}`,
    unreached: 'The erasure does not reach the following. To see this list again, erase the person again.',
    until: (time: string) => `(gone by ${time})`,
    remains: {
      backups: 'Earlier backups of the registry and the database: after a restore, erase the person again.',
      home: 'Copies of the database that an upgrade has left beside it (devmgr.db.v*): delete them.',
      'database-log': 'Write-ahead log and archives of PostgreSQL, until the server has overwritten them.',
      forwarding: 'Entries of the journal that were forwarded to another machine, with user names.',
      webhooks: 'Deliveries of webhooks that receivers have stored.',
      stations: 'Files at stations and of the command line: results, exports, reports, printed labels and receipts.',
      journal:
        'Texts that people have typed: reasons and notes in entries of devices; names that a device had without a person.',
      accounts: 'The name of an account, in the account and in entries about its changes:',
      source: 'The source of the person: it adds the person again if it still has the person.',
      tokens: 'Tokens of sessions that clients of the person hold, with the name of the account; they are refused.',
      logs: 'Logs of the daemons, of proxies and of the database: requests that name the person in their address.',
    },
  },
  leavers: { lock: 'locked', retire: 'retired permanently' },
  policy: {
    leavers: 'Devices of leavers are',
    leaverDelayHours: 'Hours until then',
    retentionDays: 'Days until leavers are erased',
    copiesDays: 'Days that copies are kept',
    arrivalDays: 'Days until a sent key is overdue',
  },
  will: (count: number, what: string, hours: number) =>
    count === 0
      ? 'This person has no active devices.'
      : `${s(count, 'active device')} will be ${what} ${hours === 0 ? 'at once' : `after ${s(hours, 'hour')}`}:`,
  account: 'The account with the same user name will be disabled, and the person cannot get new devices.',
  gone: (name: string, count: number) => `${name} has left: ${s(count, 'device')} locked or retired.`,
  due: (name: string, at: string) => `${name} has left. The devices will be locked or retired at ${at}.`,
  heldBack: (count: number) =>
    `The person has left, but ${s(count, 'device stays', 'devices stay')} active: too many devices would be locked within ten minutes. Release them on the page People.`,
  back: 'All persons',
  externalId: 'Id at the source',
  personId: 'Id',
  keys: 'Keys',
  noKeys: 'No keys are bound to this person.',
  history: 'History of the keys',
  newestKeys: (count: number) => `Only events of the ${count} keys that were registered last.`,
  locked: {
    title: 'Locked keys',
    hint: 'Keys are not unlocked automatically. Unlock those that this person keeps.',
  },
  held: {
    title: 'Held leavers and user names',
    hint: 'Too many devices or accounts would have been locked or renamed within ten minutes, so they stay as they are until you release them. If the source is wrong, correct it instead.',
    column: { since: 'Held', devices: 'Devices or user name' },
    action: { release: 'Release' },
    all: 'Release all',
    question: 'These devices will be locked, or retired if the policy requires it, and these user names given:',
    renamed: (userName: string) => `new user name ${userName}`,
    none: 'These persons are no longer held.',
    submit: (count: number) => `Lock ${s(count, 'device')}`,
    locked: (count: number) => `${s(count, 'device')} locked or retired.`,
  },
  cases: {
    title: 'Open cases',
    none: 'No case is open.',
    hint: 'What persons who have left still have. End each item, or keep it with a reason; then close the case.',
    column: { left: 'Left', open: 'Open', kept: 'Kept', next: 'Next step' },
    action: { close: 'Close case' },
    ask: { close: 'The items are stored as they are now, and the journal gets the digest of the case.' },
    done: { close: (name: string) => `The case of ${name} was closed.` },
  },
  log: {
    title: 'What the source has sent',
    column: { time: 'Time', what: 'What', fields: 'Fields', reason: 'Reason', by: 'By' },
    outcome: {
      added: 'added',
      updated: 'changed',
      left: 'has left',
      held: 'held',
      returned: 'is back',
      refused: 'refused',
    },
  },
  case: {
    title: 'Case',
    open: 'This person has left. End each item, or keep it with a reason.',
    closed: (time: string) => `The case ended on ${time}.`,
    none: 'The registry knows nothing that this person had.',
    why: 'Reason',
    kind: {
      device: 'Device',
      account: 'Account',
      session: 'Sessions',
      token: 'Service token',
      passkey: 'Key for signing in',
      credential: 'Credential at a provider',
      issue: 'Unfinished credential',
      loan: 'Loan',
      pin: 'Unread PIN',
    },
    states: { open: 'open', closed: 'closed', kept: 'kept' },
    /** Words for what the daemon writes in English. */
    reason: (text: string): string => text,
    keep: (name: string) => `Keep ${name}`,
    kept: (name: string) => `${name} is kept.`,
  },
};

/** The page Users. */
export const users = {
  total: (count: number) => s(count, 'account'),
  column: { key: 'Security key', since: 'Created' },
  key: { yes: 'registered', no: 'none', until: (time: string) => `may be registered until ${time}` },
  state: { enabled: 'enabled', disabled: 'disabled', removed: 'removed' },
  you: 'you',
  action: {
    create: 'Create account',
    edit: 'Edit',
    password: 'Password',
    logout: 'Log out',
    disable: 'Disable',
    enable: 'Enable',
  },
  of: { password: (name: string) => `Password of ${name}` },
  ask: {
    logout:
      'All sessions of this account end at once, on every machine. The password does not change. Service tokens are not affected.',
    disable:
      'Nobody can sign in with this account any more, all its sessions end at once, and its service tokens are refused. What it did stays in the journal. You can enable it again.',
    enable: 'The account can sign in again with the same password.',
    remove:
      'Nobody can sign in with this account any more, all its sessions end at once, and the e-mail address is deleted. The name stays taken, and what the account did stays in the journal. To undo this, enable it.',
  },
  lost: {
    title: 'If a key is lost',
    remove: 'Remove the lost key above. From then on it is refused.',
    logout: 'End the sessions above: those that were started with the key would continue.',
    other: 'The person signs in with another of these keys, and registers a new one in the account menu.',
    password:
      'Set a new password above, and give it to the person yourself: without a key, anyone who knows the password can register the next key.',
    allow: 'Allow the registration of one key. Until then, the password alone is refused.',
    button: 'Allow for 24 hours',
    allowed: (until: string) => `Allowed until ${until}.`,
    register: 'The person signs in with the new password, registers a new key, and signs in with both.',
    alone: 'The person signs in with the password, and registers a new key in the account menu.',
  },
  own: 'This session ends, too. Sign in again afterwards.',
  ownRole: 'You cannot change your own role here. Another administrator can.',
  usernameShape: 'ASCII letters, digits and - _ . @',
  current: 'Your current password',
  password: 'New password',
  repeat: 'Repeat the password',
  different: 'The passwords do not match.',
  passwordEnds: 'All sessions of this account end at once.',
  done: {
    create: (name: string) => `${name} was created.`,
    edit: (name: string) => `${name} was changed.`,
    password: (name: string) => `${name} has a new password.`,
    logout: (name: string) => `${name} is logged out everywhere.`,
    disable: (name: string) => `${name} is disabled.`,
    enable: (name: string) => `${name} is enabled.`,
  },
};

/** The page Policies. */
export const policies = {
  proof: {
    title: 'What a key must prove',
    hint: 'A key that does not prove this cannot be registered. Registered devices are not affected.',
    requiredGrade: 'Minimum proof',
    grade: {
      none: 'No proof is required',
      claimed: 'What the key reports about itself',
      model: 'The model',
      unit: 'The model and the serial number',
    },
    allowedAaguids: 'Allowed models (AAGUIDs)',
    aaguidsHint: 'One per line; empty: any model. Only FIDO proves an AAGUID.',
    leastFirmware: 'Minimum firmware',
    identity: 'Recognized by a credential of the key',
    identities: {
      required: 'All keys',
      'where-needed': 'Keys without a usable serial number',
      never: 'No key',
    },
    firmwareHint:
      'One rule per line: 5.7.0 for all keys, YubiKey=5.7.0 for models whose name starts with YubiKey, or an AAGUID instead of the name. Only SCP11b proves the firmware.',
    any: 'any',
    wrongLine: (line: string) => `This line is not valid: ${line}`,
    preview: 'Preview',
    previewTitle: 'What the policy would refuse',
    previewHint: (days: number) =>
      `Counts the devices that would be refused if they were registered again with their proofs: all devices, and those of the last ${days} days.`,
    rule: 'Refused because of',
    all: 'All devices',
    recent: (days: number) => `Last ${days} days`,
    rules: { grade: 'a weaker proof', aaguid: 'a model that is not allowed or not proved', together: 'either of them' },
    notCounted: {
      aaguids: 'Not counted: the allowed models, because there are more than 20.',
      firmware: 'Not counted: the minimum firmware. The registry cannot list devices by their proved firmware.',
    },
    set: 'Set policy',
  },
  signIn: {
    title: 'Who must sign in with a security key',
    hint: 'Accounts with these roles sign in with a key after the password. An account without a key can only register one. Require keys for a role only after its accounts have registered them.',
    roles: 'Roles',
    require: {
      title: (role: string) => `Require a security key for each ${role}?`,
      submit: 'Require keys',
      hint: 'At their next sign-in, accounts with this role that have no key can only register one.',
    },
    release: {
      title: (role: string) => `Allow each ${role} to sign in without a key?`,
      submit: 'Allow passwords alone',
      hint: 'Accounts with this role can then sign in with only a password.',
    },
    users: (count: number) => `${s(count, 'enabled account')} with this role.`,
    without: (count: number) => (count ? `${grouped(count)} without a key:` : 'All of them have a key.'),
    more: (count: number) => `and ${grouped(count)} more`,
    sitesUnknown: 'Not checked: whether each key works at the address where its account signs in.',
    ownUnknown: 'Not counted: accounts that need a key regardless of the policy. They still need it.',
  },
  pin: {
    title: 'Who can read PINs',
    hint: 'The PINs that stations create are encrypted for these age recipients. The registry cannot read them.',
    none: 'No recipient: stations cannot create PINs.',
    change: 'Change recipients',
    field: { recipients: 'Recipients, age1…' },
  },
  people: {
    title: 'Persons, leavers and keys that are sent',
    hint: 'Delays that run already are kept.',
    change: 'Change rules for persons',
    field: {
      personsRequired: 'Keys are activated only for active persons',
      leavers: 'Active devices of a person who leaves',
      leaverDelayHours: 'Hours until then; 0: at once',
      arrivalDays: 'Days until the arrival of a sent key is overdue; empty: never',
      retentionDays: 'Days after its case until a person is erased permanently; empty: never',
      copiesDays: 'Days for which backups, logs and forwarded entries are kept; empty: unknown',
    },
    choice: { leavers: { lock: 'locked', retire: 'retired permanently' } },
  },
  directory: {
    title: 'Directory of persons',
    hint: 'Persons are read from this directory. If a person is disabled or removed there, the devices of the person are locked.',
    off: 'No directory is set up.',
    setUp: 'Add one under Providers',
    address: 'Address',
    times: 'Schedule',
    every: (some: number, all: number) => `every ${grouped(some)} min, all entries every ${grouped(all)} min`,
    last: 'Last run',
    none: 'none',
    read: (count: number) => `${s(count, 'entry', 'entries')} read`,
    preview: 'Preview a run',
    submit: 'Read now',
    column: { step: 'Change', person: 'Person', detail: 'Detail' },
    steps: { new: 'new', changed: 'changed', left: 'left', held: 'held', back: 'back', skipped: 'skipped' },
  },
};

/** The page Trust. */
export const trust = {
  hint: 'Keys are checked against the metadata of the FIDO Alliance and the certificates of vendors. devmgr neither contains nor downloads them.',
  total: (count: number) => s(count, 'entry', 'entries'),
  empty:
    'Nothing is trusted, so no key can be proved. Import the metadata of the FIDO Alliance, or the certificates of a vendor.',
  column: { kind: 'Kind', vouches: 'Vouches for', until: 'Valid until', fingerprint: 'SHA-256', by: 'Imported by' },
  action: { create: 'Import' },
  ask: {
    remove: 'It is no longer used to check keys. Stored proofs do not change until they are checked again.',
  },
  done: { remove: (name: string) => `${name} is no longer trusted. To apply this to stored proofs, check them again.` },
  kind: { anchor: 'root', intermediate: 'intermediate', metadata: 'FIDO metadata' },
  purpose: { scp11b: 'secure channels (SCP11b)', fido: 'FIDO keys' },
  chains: (purpose: string) => `nothing on its own: completes chains of ${purpose}`,
  u2f: 'U2F keys',
  metadata: (number: number) => `FIDO metadata ${number}`,
  models: (count: number) => s(count, 'model'),
  file: 'FIDO metadata (BLOB), or certificates in PEM or DER',
  purposeHint: 'Only for certificates. The metadata names its models.',
  aaguids: 'Models (AAGUIDs)',
  aaguidsHint: 'One per line; empty: U2F keys.',
  label: 'Name, such as the vendor (optional)',
  imported: 'Imported',
  compare: 'Compare the SHA-256 with the one that the vendor publishes:',
  judge: {
    title: 'Check again',
    hint: 'Checks all stored evidence of keys against what is trusted now. The journal records each proof that changes.',
    progress: (count: number) => `${s(count, 'device')} checked …`,
    done: (judged: number, changed: number) => `${s(judged, 'device')} checked, ${s(changed, 'proof')} changed.`,
    next: 'Stored proofs do not change until they are checked again.',
  },
};

/** The page Tokens. */
export const tokens = {
  title: 'Service tokens',
  hint: 'A service token lets a program use the registry without the password of a person.',
  total: (count: number) => s(count, 'token'),
  empty: 'No token has been created yet.',
  column: { may: 'Permissions', expires: 'Expires', networks: 'Accepted from' },
  action: { create: 'Create token', adopt: 'Take over', revoke: 'Revoke' },
  ask: {
    adopt:
      'The token no longer ends with the account of its earlier owner, but with yours. Its text does not change: if the earlier owner may have a copy, create another token and revoke this one.',
  },
  state: { valid: 'valid', expired: 'expired', revoked: 'revoked', ownerless: 'owner disabled or left' },
  anywhere: 'any network',
  permissions: 'Additional permissions',
  permission: {
    webhooks: 'Webhooks',
    policies: 'Policies',
    scim: 'SCIM (persons of an identity provider)',
    decide: 'Decisions (doors)',
    ssh: 'SSH keys (hosts)',
    'record-use': 'Decisions count as use',
  },
  nothing: 'none',
  nameHint: 'of the program or the station',
  days: (min: number, max: number) => `Days until it expires (${min} to ${max})`,
  networks: 'Accepted only from these networks (optional)',
  networksHint: 'One CIDR per line, such as 10.20.0.0/16. Leave it empty to allow any network.',
  created: (name: string) => `Token ${name}`,
  once: 'Copy the token now: it is not shown again. The registry stores only a digest of it.',
  token: 'Token',
  until: (role: string, time: string) => `Role: ${role}. Valid until ${time}.`,
  askRevoke: 'The next request with this token is refused, and its streams end. This cannot be undone.',
  madeBy: (name: string) => `Created with ${name}`,
  askRemove: 'The token is revoked. These webhooks were created with it and still receive events:',
  removeMade: 'Remove webhooks',
  removeLater: 'To remove them later:',
  removed: (name: string) => `${name} is revoked, and its webhooks are removed.`,
  revoked: (name: string) => `${name} is revoked.`,
};

/** The page Webhooks. */
export const webhooks = {
  hint: 'Each event of the registry is posted to these addresses, in order and signed.',
  total: (count: number) => s(count, 'webhook'),
  empty: 'No webhook has been created yet.',
  column: { url: 'Address', types: 'Events', waiting: 'Waiting', delivered: 'Last delivered' },
  action: { create: 'Create webhook', disable: 'Disable', enable: 'Enable' },
  ask: {
    test: 'A signed message of the type WEBHOOK_TEST is posted once.',
    disable: 'No events are posted until the webhook is enabled. New events wait.',
    enable: 'The event after the last delivered one is posted at once, then the later ones.',
    remove:
      'The secret and the list of deliveries are deleted, and waiting events are not posted. This cannot be undone.',
  },
  done: {
    create: (url: string) => `${url} was created.`,
    disable: (url: string) => `${url} is disabled.`,
    enable: (url: string) => `${url} is enabled.`,
  },
  taken: (url: string, milliseconds: number) => `${url} accepted the message in ${grouped(milliseconds)} ms.`,
  notTaken: (url: string, reason: string) => `${url} did not accept the message: ${reason}.`,
  state: { active: 'active', retrying: 'retrying', disabled: 'disabled' },
  failures: (count: number) => `${s(count, 'failed attempt')}, next:`,
  all: 'all',
  waiting: (count: number) => (count < 100 ? `${count}` : '100 or more'),
  types: 'Only these events (none selected: all)',
  ownSecret: 'Your own secret, whsec_… (optional)',
  created: (id: string) => `Webhook ${id}`,
  once: 'Copy the secret now: it is not shown again. The endpoint uses it to check signatures.',
  secret: 'Secret',
  attempt: (eventId: number, event: string, attempt: number) =>
    `delivery of event ${eventId}: ${event}${attempt > 1 ? `, attempt ${attempt}` : ''}`,
  replay: 'Post again',
  replayOf: (eventId: number) => `Post again: event ${eventId}`,
  delivered: 'delivered',
  failed: 'failed',
};

/** The page Providers. */
export const providers = {
  hint: 'At a provider people sign in, persons of the registry are managed, or keys are issued. When a key is locked or retired, its credentials at providers are removed.',
  total: (count: number) => s(count, 'provider'),
  empty: 'No provider has been added yet.',
  column: {
    at: 'Tenant or address',
    'sign-in': 'Sign-in',
    people: 'People',
    keys: 'Keys',
    problem: 'Problem',
    credentials: 'Credentials',
    pending: 'To remove',
  },
  type: {
    entra: 'Microsoft Entra ID',
    okta: 'Okta',
    webauthn: 'WebAuthn server',
    devmgr: 'Accounts of this registry',
    ssh: 'SSH',
    oidc: 'OpenID Connect',
    ldap: 'LDAP directory',
    scim: 'SCIM',
  },
  tokenProblem: {
    expired: 'Its token has expired.',
    'no owner': 'Its token has no owner.',
    unused: 'Its token was never used.',
  },
  state: { works: 'works', fails: 'fails', untested: 'not tested' },
  action: {
    create: 'Add provider',
    oidc: 'Change sign-in',
    ldap: 'Change directory',
    reconcile: 'Compare',
    secret: 'Replace secret',
  },
  of: {
    oidc: (name: string) => `Change the sign-in at ${name}`,
    ldap: (name: string) => `Change the directory ${name}`,
    reconcile: (name: string) => `Compare with ${name}`,
    secret: (name: string) => `Replace the secret of ${name}`,
  },
  askTest: 'Requests that change nothing check whether the provider responds and accepts the secret.',
  check: {
    settings: 'Settings',
    discovery: 'Discovery',
    keys: 'Signing keys',
    clock: 'Clock',
    PKCE: 'PKCE',
    'device code': 'Sign-in of terminals',
    'back-channel logout': 'Logout by the provider',
    'client secret': 'Client secret',
    connection: 'Connection',
    server: 'Kind of server',
    'sign-in': 'Sign-in',
    pages: 'Results in pages',
    changes: 'Changed entries',
    entries: 'Entries',
    attributes: 'Attributes',
    request: 'Request',
    token: 'Token',
  } satisfies Words<ProviderCheckName | 'request' | 'token'>,
  refused: 'refused',
  register: 'Enter these addresses at the provider:',
  redirect: 'Redirect address',
  logout: 'Address for back-channel logout',
  previewRun: 'Preview what the first run would change',
  removed: 'Remove',
  ends: {
    keys: 'Issuing: the secret is deleted. This is refused while keys have credentials there.',
    oidc: 'Sign-in: all sessions that began there end. Their accounts stay, but have no passwords.',
    ldap: 'Directory: it is no longer read. Persons and their keys stay.',
    scim: 'SCIM: the token is revoked. Persons stay, but leavers are no longer reported.',
  },
  done: {
    create: (name: string) => `${name} was added. Test it before it is used.`,
    change: (name: string) => `${name} was changed.`,
    secret: (name: string) => `The secret of ${name} was replaced. Test the provider.`,
  },
  checked: (part: string) => `${part}: last check`,
  accepts: (name: string) => `${name} accepts requests of this registry.`,
  fails: (name: string, problem: string) => `${name} does not work: ${problem}`,
  nameHint: 'Commands use it, and the button for the sign-in shows it. What has one name is one provider.',
  kept: 'Leave this empty to keep the stored one.',
  field: {
    oidc: {
      issuer: 'Issuer, https://…',
      clientId: 'Client id',
      clientSecret: 'Client secret',
      'roles.ADMIN': 'Groups of administrators',
      'roles.DEALER': 'Groups of dealers',
      'roles.VIEWER': 'Groups of viewers',
      holders: 'Persons in none of these groups sign in and see their own keys',
      groupsClaim: 'Claim with the groups',
      scopes: 'Scopes to request',
      'strong.acr': 'acr of sign-ins with a security key',
      'strong.amr': 'amr of sign-ins with a security key',
      'localAccounts.from': 'Accounts with a password can sign in from',
      'localAccounts.names': 'The only accounts with a password that can sign in',
    },
    ldap: {
      url: 'Address, ldaps://HOST',
      base: 'Base (DN) of the search for persons',
      bindDn: 'Account (DN) that reads the directory',
      bindPassword: 'Password of this account',
      ca: 'Certificates of the server (PEM)',
      groups: 'Groups to read',
      filter: 'Filter for persons',
      everyMinutes: 'Minutes between two runs',
      fullEveryMinutes: 'Minutes between two runs that read all entries',
      'attributes.userName': 'Attribute: user name',
      'attributes.name': 'Attribute: full name',
      'attributes.email': 'Attribute: e-mail address',
      'attributes.id': 'Attribute: id that never changes',
      'attributes.disabled': 'Attribute: disabled',
      'attributes.groups': 'Attribute: groups',
    },
  },
  hintOf: {
    oidc: {
      scopes: 'One per line. Leave this empty for the usual ones.',
      'localAccounts.names': 'One per line. Leave this empty for all of them.',
    },
    ldap: {
      bindDn: 'Leave this empty to read without signing in.',
      ca: 'Leave this empty to use the authorities of Node.js.',
      groups: 'One per line: cn=staff,dc=example,dc=com, or NAME=DN for another name here.',
      filter: 'Leave this empty for the usual class of the server.',
    },
  },
  localFrom: { ANYWHERE: 'anywhere', LOOPBACK: 'the machine of the daemon' },
  networks: 'Accept the token only from these networks',
  tokenOf: (name: string) => `Token of ${name}`,
  once: 'Copy the token now: it is not shown again. Enter it at the provider, with the address.',
  token: 'Token',
  scimAddress: 'Address',
  until: (time: string) => `It can send persons and groups, and nothing else. Valid until ${time}.`,
  address: {
    entra: 'Microsoft Graph of a national cloud',
    okta: 'Address of the organization, https://…',
    webauthn: 'Address of the creation options, https://…',
    devmgr: 'Address of this console, https://…',
  },
  setting: {
    tenant: 'Tenant: id or domain',
    clientId: 'Application (client) id',
    loginAddress: 'Sign-in of a national cloud',
    finishAddress: 'Address for the response of a key, https://…',
    removeAddress: 'Address to remove a credential, https://…',
    verification: 'pin: also ask for the PIN at each login',
  },
  secret: { entra: 'Client secret', okta: 'API token', webauthn: 'Bearer token' },
  secretHint: 'It is used from the next request on.',
  repair: 'Fix',
  agree: 'Registry and provider agree.',
  differing: { credential: 'Credential', of: 'Device or account', difference: 'Difference' },
  difference: {
    onlyHere: 'missing at the provider: marked as removed',
    other: 'belongs to another person: removed there',
    onlyThere: 'only at the provider: removed there',
    stays: 'only at the provider, not created by this registry: stays',
  },
  repairs: (count: number) => `Fix changes ${s(count, 'credential')}.`,
  repaired: (count: number, name: string) => `${s(count, 'credential')} fixed at ${name}.`,
};

/** Forms of settings. */
export const settingsForm = {
  further: 'Further settings',
  perLine: 'One per line.',
  changed:
    'These settings were changed since this page read them, and nothing was stored. Reload the page, then change them.',
  refused: (reason: string) => `Refused: ${reason}`,
};

/** The first steps in a registry without devices. */
export const firstDevice = {
  purpose: 'This registry has no devices yet. Add one, import a file, or plug in keys at the station.',
  file: 'Import a file',
  station: 'Open the station',
};

/** Credentials of a device at providers. */
export const credentials = {
  title: 'Sign-in at providers',
  none: 'This key is not issued at any provider. To issue it, plug it in and run devmgr keys issue.',
  column: { credential: 'Credential', provider: 'Provider', made: 'Issued' },
  state: { valid: 'valid', unfinished: 'not finished', pending: 'still to be removed', removed: 'removed' },
  ask: {
    remove: 'The person can no longer sign in at the provider with this key. To restore it, issue the key again.',
  },
  done: { remove: (name: string) => `${name} is removed at its provider.` },
};

/** The station page. */
export const station = {
  intro: 'Choose a person, plug in a key, unplug it: the key is registered and activated for the person.',
  sound: 'Sound',
  notAllowed:
    'With your role, you can view this page but not enroll keys. An administrator can give you the role DEALER.',
  elsewhere: {
    none: 'This daemon does not look for keys: it was started with the role registry.',
    unavailable: 'This daemon cannot find keys on its machine:',
    command: 'To enroll keys that are plugged in at a station, use the command line there:',
    again: 'Check again',
  },
  call: {
    roster: 'User name or full name',
    open: 'User name of the person',
    submit: 'Call',
    hint: 'Type it, or scan a badge.',
  },
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
    printed: 'Number printed on the key',
    printedAgain: 'The same number again',
    usePrinted: 'Use this number',
    ignored: (count: number) => `Ignored until unplugged: ${grouped(count)}`,
    unreadable: 'key without a readable serial number',
    unregistered: 'not registered',
    keys: 'Keys that are plugged in',
    simulated: 'simulated',
    empty: (person: string) => `Plug in a key for ${person}.`,
    checking: 'Checking the key … If it blinks, touch it.',
    pass: 'PASS',
    readyToIssue: (person: string) =>
      `Press Enter: the key will be bound to ${person} and issued. Leave it plugged in. Esc undoes.`,
    ready: (person: string) => `Unplug the key or press Enter: it will be bound to ${person}. Esc undoes.`,
    fail: 'FAIL',
    still: (person: string) => `Nothing is bound. ${person} still needs a key.`,
    committing: 'Binding …',
    issuing: 'Issuing the key … Leave it plugged in. If it blinks, touch it.',
    away: 'The daemon does not respond. When it responds again, the binding is sent once.',
    bound: 'BOUND',
    boundTo: (key: string, person: string) => `${key} is bound to ${person} and active.`,
    stop: 'STOP',
    crowded: 'Two keys are plugged in: nothing is bound. Remove both, or ignore one of them.',
    aside: 'A key is plugged in, but its person is not known. Unplug it and plug it in again, or scan a badge.',
    held: 'Nothing is bound until a valid badge is scanned or Esc is pressed.',
  },
  roster: {
    title: 'Roster',
    file: 'List of people',
    hint: 'An export of a directory or HR system (CSV, .xlsx, JSON, LDIF), or CSV with userId, name, count, type and printedNumber. It is read in this browser and is not uploaded.',
    remove: 'Remove the roster',
    unused: (columns: readonly string[]) => `Ignored columns: ${columns.join(', ')}.`,
    gone: (userIds: readonly string[]) => `Persons marked as gone in the file get no key: ${userIds.join(', ')}.`,
    repeated: (lines: readonly number[]) => `Lines that repeat an earlier one: ${lines.map(grouped).join(', ')}.`,
    progress: (finished: number, all: number) => `${grouped(finished)} of ${grouped(all)} rows done`,
    skipped: (count: number) => `${grouped(count)} skipped`,
    waiting: 'Next',
    more: (count: number) => `and ${grouped(count)} more`,
  },
  check: { serial: 'Serial number', type: 'Type', free: 'Not bound yet', proof: 'Proof' } satisfies Words<CheckName>,
  passed: 'pass',
  failed: 'fail',
  code: 'The key is registered, but not active. Its activation code, shown only here:',
  failure: {
    'serial number unreadable': 'The serial number cannot be read.',
    'wrong type': 'The person needs a key of another type.',
    'counted before': 'This key was already bound in this run. Use another key.',
    'bound to another person': 'This key is already registered and bound to another person.',
    LOCKED: 'This key is already registered and locked.',
    DEACTIVATED: 'This key is already registered and retired.',
    'pulled too early': 'The key was unplugged before its check was complete. Plug it in again.',
    refused: 'The registry refuses the key.',
    'not issued': 'The key is bound, but is not issued at every provider yet. Plug it in again.',
    'not signed': 'The key is bound, but has not signed its receipt yet. Plug it in again.',
    proof: 'The key does not prove what the registry requires:',
    'no answer': 'The daemon does not respond.',
    'has another key': 'This person already has a key. Plug that key in, or press r to give another one:',
  } satisfies Words<KeyFailure>,
  said: {
    'two keys': 'Two new keys at once: nothing is bound.',
    undone: 'Undone: nothing was written. Unplug the key.',
    skipped: 'Skipped. To return to this person, scan the badge.',
    redo: 'Back to the last person. Unplug the key.',
    'redo of a binding': 'Back to the last person, for another key. The first key stays bound.',
    'another key': 'Another key for this person. What the person has stays bound.',
    'nothing to redo': 'Only the last person can be repeated, and only before the next key is bound.',
    'nothing to confirm': 'Nothing to confirm: no key has passed its check.',
    'nothing confirmed yet': 'Enter was pressed right after another keystroke: nothing is bound. Press Enter again.',
    'nothing to undo': 'Nothing to undo: a binding cannot be undone here.',
    badge: 'Badge accepted.',
    'badge incomplete': 'The scan was incomplete: scan the badge again.',
    'unplugged during a scan': 'The key was unplugged during a scan: nothing is bound. Plug it in again.',
    'badge unknown': 'No person has this user name or full name.',
    'badge of several': 'Several people of the roster have this name: scan a user name.',
    'badge of a person who is done': 'This person already has all keys of the roster.',
    lost: 'The connection was lost: nothing is bound. Plug the key in again.',
  } satisfies Words<Remark>,
  results: {
    title: 'Results',
    passed: 'passed',
    failed: 'failed',
    yield: 'yield',
    perHour: 'keys per hour',
    newest: 'The latest 20 results',
    bound: 'bound',
    signsIn: (providers: string) => `Signs in at: ${providers}.`,
    download: 'Download as CSV',
    clear: 'Clear the results',
  },
};

/** Keys that the station page issues at providers. */
export const stationIssue = {
  title: 'Issue keys',
  hint: 'After a key is bound, it is issued for its person at each provider that is chosen here. Leave it plugged in until then.',
  providers: 'Providers',
  pin: 'PIN',
  pins: { ask: 'A key without a PIN gets one', none: 'A key without a PIN stays without one' },
  pinOf: (key: string) => `PIN of ${key}`,
  newPin: (key: string) => `First PIN of ${key}`,
  left: (count: number) => `Attempts left: ${grouped(count)}`,
  none: 'This key has no PIN yet. The registry does not store the PIN.',
  again: 'Repeat the PIN',
  differs: 'The PINs do not match.',
  use: 'Use this PIN',
  unplugged: 'The key was unplugged.',
  noPin: 'No PIN was entered.',
  problem: {
    'pin-change': 'The person must change the PIN first.',
    'pin-present': 'The key already has a PIN.',
    'pin-unfit': 'The key does not accept this PIN.',
    excluded: 'The key already has a credential of this person at the provider: remove it there.',
    full: 'The key has no room for another credential: remove one, or use another key.',
    'no-credential': 'The key does not have the credential.',
    'not-allowed': 'The key does not allow this now.',
    'pin-blocked': 'The PIN of the key is blocked: only a reset unblocks it.',
    'pin-invalid': 'The PIN is wrong. After too many wrong attempts, the key blocks its PIN.',
    'pin-not-set': 'The provider requires a PIN, and the key has none.',
    'pin-policy': 'The key does not accept this PIN.',
    'pin-replug': 'Plug the key in again before you enter the PIN.',
    'pin-required': 'The key requires its PIN.',
    unavailable: 'The key cannot do this.',
    'no-permission': 'The daemon is not allowed to open the key.',
    removed: 'The key was unplugged.',
    busy: 'The key is in use.',
    mute: 'The key does not respond.',
    timeout: 'The key did not respond in time, or was not touched.',
    aborted: 'The request was canceled.',
    protocol: 'The key did not respond as expected.',
  } satisfies Words<IssueProblemCode>,
  unfit: {
    short: (least: number) => `The PIN of this key has at least ${grouped(least)} characters.`,
    long: (most: number) => `A PIN has at most ${grouped(most)} bytes.`,
  } satisfies Record<PinFault['what'], (bound: number) => string>,
};

/** A text for each fault of a file, or a function of the fault. */
type FaultWords = {
  readonly [W in FileFault['fault']['what']]:
    | string
    | ((fault: Extract<FileFault['fault'], { readonly what: W }>) => string);
};

/** Why a file is not a roster. */
export const rosterFaults = {
  /** Fault of the file, or of the line that it names. */
  of: {
    ...fileFaults,
    'no rows': 'The file has no people after the names of the columns.',
    'columns absent': 'The file lacks a column.',
    'fields missing': ({ rejected: [column] }) =>
      column === undefined
        ? 'No column has the user names. Name it userId in the file.'
        : `The column ${column.column} has ids that a system generated, not user names. Rename the column of the user names to userId.`,
    'column twice': ({ column, columns }) => `Two columns can be ${column}: ${columns.join(', ')}. Rename one of them.`,
    foreign: ({ kind }) => foreignFiles[kind],
    unread: ({ problem }) => problem,
    userId: ({ text }) => (text === '' ? 'userId is empty' : `${text} is not a valid userId`),
    name: `name has more than ${rosterBounds.name} characters`,
    type: 'type must be UKEY or SIMKEY',
    count: `count must be a whole number from 1 to ${rosterBounds.keys}`,
    printedNumber: 'printedNumber must be the number of one key: a valid serial number, and count 1',
    'person twice': ({ earlier, userId }) => `${userId} is already in line ${earlier}`,
    lines: () => `a roster has at most ${grouped(rosterBounds.lines)} lines`,
    encoding: ({ encoding }) =>
      `it is not valid ${encoding.toUpperCase()}. Save the file as UTF-8 (in Excel: CSV UTF-8), or choose its encoding.`,
    empty: 'The file has no people.',
    'too large': 'The file is too large for a roster.',
    unreadable: 'The file cannot be read.',
  } satisfies FaultWords,
  line: (line: number, problem: string) => `Line ${grouped(line)}: ${problem}`,
  encoding: 'Encoding of the file',
  readAgain: 'Read the file again',
};

/** The search over everything, and the list of keys. */
export const palette = {
  title: 'Find',
  hint: 'id, serial number, person, model, tag, page or command',
  none: 'No device has these words.',
  target: (action: string) => `${action} which device? Enter its id, serial number or person`,
  group: {
    recent: 'Recent',
    persons: 'Persons',
    records: 'Lots, stations and accounts',
    lists: 'Lists',
    commands: 'Commands',
  },
  kind: { lot: 'Lot', station: 'Station', account: 'Account' },
  containing: (part: string) => `Devices with “${part}”`,
  ofUser: (name: string) => `Devices of the person ${name}`,
  withTag: (tag: string) => `Devices with the tag ${tag}`,
  keys: 'Keyboard shortcuts',
  list: (modifier: string): readonly (readonly [string, string])[] => [
    [`${modifier}K  /`, 'Find a device, person, tag, page or command'],
    ['?', 'Show this list'],
    ['j  k', 'Next and previous device of the list'],
    ['x', 'Select the device'],
    ['Space', 'Show the row beside the list; ↓ ↑ show the others'],
    ['Enter', 'Open the device'],
    ['Alt T', 'Go to the notifications'],
    ['Esc', 'Close what is in front'],
  ],
};

/** A secret that is shown once. */
export const secretOnce = {
  askClose: 'It has not been copied. After you close this dialog, it cannot be shown again.',
  keepOpen: 'Keep open',
  closeUncopied: 'Close without copying',
};
