/** The words of the console in German. */
import { statisticsRange } from '../../src/contract/values.ts';
import { type FileFault, rosterBounds } from '../../src/enrollment/line/roster.ts';
import type * as en from './en.ts';
import { grouped } from './numbers.ts';

const s = (count: number, one: string, many: string) => `${grouped(count)} ${count === 1 ? one : many}`;

/** The refusals of the daemon by code; 0 for those that name what is wrong. */
const refusals: Readonly<Record<number, string>> = {
  0: 'Der Dienst lehnt das ab',
  1002: 'Diesen Benutzer gibt es nicht.',
  1003: 'Das Passwort ist falsch.',
  1004: 'Die Sitzung ist ungültig. Melden Sie sich erneut an.',
  1005: 'Die Sitzung ist abgelaufen. Melden Sie sich erneut an.',
  2001: 'Dieses Gerät gibt es nicht.',
  2002: 'Das Gerät ist schon aktiviert.',
  2003: 'Der Aktivierungscode ist falsch oder abgelaufen.',
  2004: 'Das Gerät ist gesperrt. Entsperren Sie es zuerst.',
  2005: 'Das Gerät ist endgültig stillgelegt.',
  2006: 'Diese Seriennummer ist schon registriert.',
  3001: 'Diese Sicherung gibt es nicht.',
  3002: 'Die Wiederherstellung ist fehlgeschlagen: Die Sicherung ist beschädigt oder fehlt.',
  4001: 'Diese Version gibt es nicht.',
  4002: 'Die Datei konnte nicht hochgeladen werden.',
  412: 'Das Gerät wurde inzwischen geändert.',
  429: 'Zu viele Anfragen. Versuchen Sie es später erneut.',
  500: 'Interner Fehler. Das Protokoll des Dienstes nennt Einzelheiten unter der Nummer der Anfrage.',
};

/** What every page needs. */
export const common: typeof en.common = {
  code: 'de',
  nav: {
    label: 'Seiten',
    skip: 'Zum Inhalt',
    overview: 'Übersicht',
    devices: 'Geräte',
    bench: 'Arbeitsplatz',
    activity: 'Verlauf',
    packages: 'Pakete',
    users: 'Benutzer',
    tokens: 'Token',
    webhooks: 'Webhooks',
    account: 'Konto',
    terminal: 'Ein Terminal anmelden',
  },
  stream: {
    connecting: 'wird verbunden …',
    live: 'aktuell',
    lost: 'Verbindung unterbrochen: Die Anzeige kann veraltet sein. Sie wird wiederhergestellt …',
  },
  problem: {
    title: 'Das hat nicht geklappt',
    noAnswer: 'Der Dienst antwortet nicht. Prüfen Sie, ob er läuft, und versuchen Sie es erneut.',
    forbidden: 'Ihre Rolle erlaubt das nicht.',
    limited: seconds => `Zu viele Anfragen: Diese wird in ${s(seconds, 'Sekunde', 'Sekunden')} erneut gesendet.`,
    refusal: (code: number, message: string): string => refusals[code] ?? `${refusals[0]}: ${message}`,
    requestId: id => `Anfrage ${id}`,
    retry: 'Erneut versuchen',
    keyKnown: 'Dieser Schlüssel ist schon registriert.',
    noKey:
      'Es wurde kein Sicherheitsschlüssel benutzt: abgebrochen, Zeit abgelaufen, oder keiner passt. Versuchen Sie es erneut.',
    keyAddress:
      'Sie müssen sich mit einem Sicherheitsschlüssel anmelden, und unter dieser Adresse benutzen Browser keinen. Öffnen Sie die Konsole über HTTPS oder auf localhost.',
    notLoaded:
      'Dieser Teil der Konsole konnte nicht geladen werden. Er wird wieder geladen, wenn die Verbindung zurück ist.',
    crashed: 'Diese Seite ist ausgefallen. Laden Sie sie neu; das Register ist nicht betroffen.',
  },
  common: {
    cancel: 'Abbrechen',
    close: 'Schließen',
    save: 'Speichern',
    loading: 'Wird geladen …',
    updating: 'Wird aktualisiert …',
    none: 'Keine',
    unknownPage: 'Diese Seite gibt es nicht.',
    never: 'nie',
    previous: 'Zurück',
    next: 'Weiter',
    copy: 'Kopieren',
    actions: 'Aktionen',
    copied: 'Kopiert',
    noEvents: 'Noch ist nichts geschehen.',
    page: (page, pages) => `Seite ${grouped(page)} von ${grouped(pages)}`,
  },
  status: { INACTIVE: 'inaktiv', ACTIVE: 'aktiv', LOCKED: 'gesperrt', DEACTIVATED: 'stillgelegt' },
  type: { UKEY: 'USB-Schlüssel', SIMKEY: 'SIM-Schlüssel' },
  event: {
    DEVICE_REGISTERED: 'registriert',
    DEVICE_ACTIVATED: 'aktiviert',
    DEVICE_LOCKED: 'gesperrt',
    DEVICE_UNLOCKED: 'entsperrt',
    DEVICE_DEACTIVATED: 'stillgelegt',
    DEVICE_UPDATED: 'geändert',
    ACTIVATION_CODE_GENERATED: 'neuer Aktivierungscode',
    APP_VERSION_UPLOADED: 'Paket hochgeladen',
    KEY_ATTACHED: 'eingesteckt',
    KEY_DETACHED: 'abgezogen',
  },
  who: {
    by: (kind: string, name: string) => `von ${kind}${name}`,
    kind: { user: '', token: 'Dienst-Token ', daemon: 'Programm ', directory: 'Verzeichnis ', provider: 'Anbieter ' },
    changes: 'Was geändert wurde',
    field: { note: 'Bemerkung', tags: 'Merkmale', firmwareVersion: 'Firmware-Version' },
  },
  grade: {
    none: 'kein Nachweis',
    claimed: 'nur Angabe',
    model: 'Modell belegt',
    unit: 'Gerät belegt',
    failed: 'widerlegt',
  },
  action: {
    LOCK: 'Sperren',
    UNLOCK: 'Entsperren',
    ACTIVATE: 'Aktivieren',
    GENERATE_CODE: 'Neuer Code',
    DEACTIVATE: 'Stilllegen',
  },
};

/** The first page, with its charts. */
export const overview: typeof en.overview = {
  title: 'Übersicht',
  devices: 'Geräte',
  perHour: 'Registrierungen je Stunde',
  perDay: 'Registrierungen je Tag',
  codesExpiring: `Codes, die in ${statisticsRange.codesDays} Tagen ablaufen`,
  unused: `aktiv, seit ${statisticsRange.unusedDays} Tagen unbenutzt`,
  types: { UKEY: 'USB-Schlüssel', SIMKEY: 'SIM-Schlüssel' },
  newest: 'Neueste Ereignisse',
  chart: {
    sum: count => `${grouped(count)} insgesamt`,
    table: 'Als Tabelle',
    time: 'Zeit',
    count: 'Registrierungen',
  },
};

/** The page Activity. */
export const activity: typeof en.activity = {
  title: 'Verlauf',
  search: { deviceId: 'Gerät', actor: 'Person', from: 'Von (Tag)', to: 'Bis (Tag)' },
  types: 'Nur zeigen',
  earlier: 'Frühere Ereignisse',
  whole: 'Hier beginnt das Journal.',
};

/** The menu of the person. */
export const menu: typeof en.menu = {
  keys: 'Sicherheitsschlüssel',
  signOut: 'Abmelden',
  theme: 'Farben',
  light: 'hell',
  dark: 'dunkel',
  system: 'wie das System',
  language: 'Sprache',
};

/** Roles, and what they allow. */
export const roles: typeof en.roles = {
  name: { ADMIN: 'Administrator', DEALER: 'Händler', VIEWER: 'Leser' },
  may: {
    ADMIN: 'Darf alles.',
    DEALER: 'Bearbeitet Geräte und ihre Sicherungen, aber nicht Benutzer, Token und Pakete.',
    VIEWER: 'Liest, ohne Aktivierungscodes.',
  },
};

/** What a person enters for an action on devices. */
export const entries: typeof en.entries = {
  reason: 'Grund',
  note: 'Bemerkung (optional)',
  validityDays: 'Gültigkeit des Codes in Tagen',
  password: 'Passwort eines Administrators',
  userId: 'Benutzer',
  activationCode: 'Aktivierungscode',
  final: 'Ein stillgelegtes Gerät kann nie wieder benutzt werden.',
};

/** Signing in. */
export const signIn: typeof en.signIn = {
  signIn: {
    title: 'Anmelden',
    username: 'Benutzername',
    password: 'Passwort',
    submit: 'Anmelden',
    expired: 'Die Sitzung ist beendet. Melden Sie sich erneut an.',
    code: 'Dieser Link wurde schon benutzt oder ist älter als 30 Sekunden. Rufen Sie devmgr open erneut auf, oder melden Sie sich an.',
    wrong: 'Benutzername oder Passwort ist falsch.',
    withKey: 'Mit einem Sicherheitsschlüssel anmelden',
    registered: 'Der Schlüssel ist registriert. Melden Sie sich erneut an.',
    local: { before: 'Auf dem Rechner des Dienstes öffnet', after: 'diese Seite angemeldet.' },
  },
  stepUp: {
    title: 'Erneut anmelden',
    why: 'Diese Änderung verlangt eine Anmeldung in den letzten zehn Minuten.',
    wrong: 'Das Passwort ist falsch.',
    withKey: 'Sicherheitsschlüssel benutzen',
  },
};

/** Why a button takes no answer yet. */
export const approval: typeof en.approval = {
  wait: 'Bestätigen können Sie, wenn dieses Fenster eine Sekunde lang vorn war.',
  opened:
    'Eine andere Seite hat diesen Tab geöffnet und kann ändern, was er zeigt. Hier kann deshalb nichts bestätigt werden: Öffnen Sie die Konsole in einem neuen Tab.',
};

/** The question whether a link may sign the tab in. */
export const offer: typeof en.offer = {
  title: (name, host) => `Auf ${host} als ${name} fortfahren?`,
  why: 'Ein Link hat diese Seite mit diesem Konto geöffnet. Fahren Sie nur fort, wenn es Ihr Konto ist: Was Sie tun, wird unter diesem Namen festgehalten.',
  present: name => `In diesem Tab ist ${name} angemeldet. Wenn Sie fortfahren, endet diese Sitzung hier.`,
  accept: name => `Als ${name} fortfahren`,
  refuse: 'Nicht fortfahren',
  stay: name => `Als ${name} angemeldet bleiben`,
  invalid: 'Dieser Link funktioniert nicht',
};

/** The account of the person. */
export const account: typeof en.account = {
  mustRegister:
    'Sie müssen sich mit einem Sicherheitsschlüssel anmelden und haben noch keinen. Registrieren Sie einen, und melden Sie sich dann erneut an.',
  title: 'Sicherheitsschlüssel',
  keysHint:
    'Mit einem Schlüssel melden Sie sich ohne Passwort an, oder nach dem Passwort. Er gilt nur für den Namen, für den er registriert wurde.',
  noKeys: 'Sie haben noch keinen Schlüssel.',
  column: { name: 'Name des Schlüssels', site: 'Gilt für', registered: 'Registriert', used: 'Zuletzt benutzt' },
  action: { remove: 'Entfernen' },
  of: { remove: name => `Entfernen: ${name}` },
  keyExample: 'zum Beispiel: Schreibtisch',
  add: 'Schlüssel registrieren',
  cannot:
    'Browser benutzen Sicherheitsschlüssel nur über HTTPS und auf localhost. Öffnen Sie die Konsole unter einer solchen Adresse, um einen zu registrieren.',
  requireOwn: 'Für dieses Konto bei jeder Anmeldung einen Schlüssel verlangen',
  removeTitle: name => `Den Schlüssel ${name} entfernen?`,
  removeHint: 'Er meldet Sie nicht mehr an. Er kann nicht noch einmal registriert werden.',
  policy: 'Wer einen Schlüssel haben muss',
  policyHint:
    'Benutzer dieser Rollen melden sich nach dem Passwort mit einem Schlüssel an. Wer keinen hat, kann nur einen registrieren. Verlangen Sie Schlüssel von einer Rolle, nachdem ihre Benutzer sie registriert haben.',
  policyRoles: 'Rollen',
  require: {
    title: role => `Von der Rolle ${role} einen Schlüssel verlangen?`,
    submit: 'Schlüssel verlangen',
    hint: 'Wer diese Rolle und keinen Schlüssel hat, kann bei der nächsten Anmeldung nur einen registrieren.',
  },
  release: {
    title: role => `Die Rolle ${role} ohne Schlüssel anmelden lassen?`,
    submit: 'Passwort allein zulassen',
    hint: 'Für Benutzer dieser Rolle genügt dann das Passwort.',
  },
};

/** The page that signs in a terminal. */
export const terminal: typeof en.terminal = {
  title: 'Ein Terminal anmelden',
  code: 'Code, den das Terminal zeigt',
  show: 'Weiter',
  name: 'Es nennt sich',
  address: 'Seine Adresse',
  asked: 'Angefragt um',
  warning:
    'Stimmen Sie nur zu, wenn Sie gerade devmgr login --web gestartet und den Code auf dessen Terminal gelesen haben.',
  effect: user => `Das Terminal arbeitet dann als ${user}.`,
  approve: 'Das ist mein Terminal: anmelden',
  done: 'Das Terminal ist angemeldet. Sie können diese Seite schließen.',
  unknown:
    'Kein Terminal wartet mit diesem Code: Er ist falsch, wurde benutzt oder ist älter als fünf Minuten. Vergleichen Sie ihn mit dem Terminal, oder rufen Sie devmgr login --web erneut auf.',
};

/** The list of devices. */
export const devices: typeof en.devices = {
  title: 'Geräte',
  search: 'Suche',
  searchHint: 'Teil einer Kennung oder Seriennummer',
  filters: 'Filter',
  applied: 'Gesetzte Filter',
  filter: {
    keyword: 'Suche',
    status: 'Zustand',
    deviceType: 'Art',
    proof: 'Nachweis',
    tag: 'Merkmal',
    manufacturer: 'Hersteller (genau)',
    userId: 'Benutzer (genau)',
    serialNumber: 'Seriennummer (genau)',
    aaguid: 'AAGUID',
    advisory: 'Sicherheitshinweis',
    createdFrom: 'Registriert ab',
    createdTo: 'Registriert bis',
    lastUsedBefore: 'Unbenutzt seit',
    codeExpiresBefore: 'Code läuft ab vor',
  },
  removeFilter: name => `Filter ${name} entfernen`,
  column: {
    device: 'Gerät',
    serial: 'Seriennummer',
    type: 'Art',
    manufacturer: 'Hersteller',
    model: 'Modell',
    state: 'Zustand',
    user: 'Benutzer',
    registered: 'Registriert',
    used: 'Zuletzt benutzt',
    proof: 'Nachweis',
    tags: 'Merkmale',
  },
  total: count => s(count, 'Gerät', 'Geräte'),
  selected: (count, total) => `${grouped(count)} von ${s(total, 'Gerät', 'Geräten')} ausgewählt`,
  allSelected: total => `Alle Treffer ausgewählt: ${s(total, 'Gerät', 'Geräte')}`,
  select: id => `${id} auswählen`,
  selectPage: 'Alle auf dieser Seite auswählen',
  selectAll: total => `Alle ${grouped(total)} Treffer auswählen`,
  clear: 'Auswahl aufheben',
  changes: count => `${s(count, 'anderes Gerät', 'andere Geräte')} geändert: anzeigen`,
  empty: 'Kein Gerät entspricht der Auswahl.',
  export: format => `Export ${format}`,
  exporting: 'Wird exportiert …',
};

/** Bulk operations. */
export const bulk: typeof en.bulk = {
  counting: count => (count ? `Wird gezählt: bisher ${s(count, 'Gerät', 'Geräte')} …` : 'Wird gezählt …'),
  count: 'Geräte',
  what: 'Was geschieht',
  changed: 'wird geändert',
  skipped: 'übersprungen: Der Zustand lässt es nicht zu',
  preview: {
    LOCK: count => `Gesperrt wird: ${s(count, 'Gerät', 'Geräte')}.`,
    UNLOCK: count => `Entsperrt wird: ${s(count, 'Gerät', 'Geräte')}.`,
    GENERATE_CODE: count => `Einen neuen Code erhält: ${s(count, 'Gerät', 'Geräte')}. Frühere Codes werden ungültig.`,
    DEACTIVATE: count => `Stillgelegt wird: ${s(count, 'Gerät', 'Geräte')}.`,
  },
  start: {
    LOCK: count => `${s(count, 'Gerät', 'Geräte')} sperren`,
    UNLOCK: count => `${s(count, 'Gerät', 'Geräte')} entsperren`,
    GENERATE_CODE: count => `${s(count, 'Code', 'Codes')} ersetzen`,
    DEACTIVATE: count => `${s(count, 'Gerät', 'Geräte')} stilllegen`,
  },
  done: {
    LOCK: count => `${s(count, 'Gerät', 'Geräte')} gesperrt.`,
    UNLOCK: count => `${s(count, 'Gerät', 'Geräte')} entsperrt.`,
    GENERATE_CODE: count => `${s(count, 'Code', 'Codes')} ersetzt.`,
    DEACTIVATE: count => `${s(count, 'Gerät', 'Geräte')} stillgelegt.`,
  },
  typeCount: count => `Geben Sie die Zahl der Geräte ein: ${count}`,
  progress: (done, total) => `${grouped(done)} von ${s(total, 'Gerät', 'Geräten')}`,
  stop: 'Nach diesem Teil anhalten',
  stopping: 'Wird angehalten …',
  failed: count => `${grouped(count)} fehlgeschlagen.`,
  left: count => `${s(count, 'Gerät', 'Geräte')} nicht bearbeitet.`,
  failedTitle: 'Fehlgeschlagene Geräte',
  why: 'Warum',
  more: count => `${grouped(count)} weitere in der Datei.`,
  download: 'Ergebnisse laden (CSV)',
  code: 'Aktivierungscode',
  codes: 'Neue Codes',
  showCodes: 'Codes anzeigen',
  hideCodes: 'Codes verbergen',
  downloadCodes: 'Codes laden (CSV)',
};

/** The page of a device. */
export const device: typeof en.device = {
  back: 'Alle Geräte',
  facts: {
    title: 'Angaben',
    serialNumber: 'Seriennummer',
    deviceType: 'Art',
    manufacturer: 'Hersteller',
    model: 'Modell',
    hardwareVersion: 'Hardwareversion',
    firmwareVersion: 'Firmwareversion',
    user: 'Benutzer',
    createdAt: 'Registriert',
    activatedAt: 'Aktiviert',
    lastUsedAt: 'Zuletzt benutzt',
    uses: 'Benutzungen',
    lockedAt: 'Gesperrt',
    lockReason: 'Grund der Sperre',
    deactivatedAt: 'Stillgelegt',
    updatedAt: 'Zuletzt geändert',
  },
  proof: {
    title: 'Nachweis',
    grades: {
      none: 'Über diesen Schlüssel ist nichts bekannt.',
      claimed: 'Nichts ist belegt: Der Schlüssel gibt dies selbst an.',
      model:
        'Der Schlüssel ist ein echter seines Modells. Die Seriennummer ist nicht belegt: Andere Schlüssel des Modells könnten sie angeben.',
      unit: 'Der Schlüssel ist echt und hat diese Seriennummer.',
      failed: 'Der Nachweis widerspricht dem Schlüssel: Verwenden Sie ihn nicht.',
    },
    without: 'Dieses Gerät wurde ohne Nachweis registriert.',
    model: 'Modell',
    serial: 'Seriennummer',
    aaguid: 'AAGUID',
    firmware: 'Firmware',
    method: 'Verfahren',
    root: 'Vertrauensanker',
    metadataNumber: 'FIDO-Metadaten',
    provedAt: 'Belegt',
    warnings: 'Warnungen',
  },
  tags: {
    title: 'Merkmale',
    add: 'Neues Merkmal',
    submit: 'Hinzufügen',
    remove: name => `Merkmal ${name} entfernen`,
    fault:
      'Schreiben Sie Name:Wert. Ein Name beginnt mit einem Buchstaben und hat nur Kleinbuchstaben, Ziffern, _ und -.',
  },
  note: { title: 'Bemerkung', none: 'Keine Bemerkung.' },
  change: 'Ändern',
  conflict: {
    title: 'Jemand anders hat dies geändert, seit Sie begonnen haben.',
    stored: 'Jetzt gespeichert',
    mine: 'Ihr Text',
    none: 'Nichts',
    keepStored: 'Gespeichertes behalten',
    keepMine: 'Durch meines ersetzen',
  },
  readOnly: 'Merkmale, Bemerkung und Firmware-Version lassen sich ändern, solange das Gerät inaktiv oder aktiv ist.',
  code: {
    title: 'Aktivierungscode',
    hidden: 'Verborgen. Er wird eine Minute lang angezeigt.',
    show: 'Code anzeigen',
    hide: 'Code verbergen',
    expires: time => `Gültig bis ${time}`,
    qr: 'Aktivierungscode als QR-Code',
  },
  action: {
    deviceId: id => `Geben Sie die Kennung des Geräts ein: ${id}`,
    GENERATE_CODE: 'Der bisherige Code wird ungültig.',
    LOCK: 'Das Gerät kann erst nach dem Entsperren wieder benutzt werden.',
    UNLOCK: 'Das Gerät kann wieder benutzt werden.',
    ACTIVATE: 'Das Gerät wird an den Benutzer gebunden.',
  },
  history: { title: 'Verlauf', older: 'Ältere Ereignisse', begin: 'Das ist alles.' },
  backups: {
    title: 'Sicherungen',
    none: 'Keine Sicherungen.',
    column: { file: 'Datei', size: 'Größe', at: 'Gespeichert', note: 'Bemerkung' },
    bytes: count => `${grouped(count)} Byte`,
    action: { download: 'Herunterladen' },
    of: { download: name => `Herunterladen: ${name}` },
    more: count => `${grouped(count)} ältere: devmgr backups list`,
  },
  label: { title: 'Etikett', text: 'An einem Arbeitsplatz mit Etikettendrucker:', print: 'Diese Seite drucken' },
};

/** The page Packages. */
export const packages: typeof en.packages = {
  title: 'Pakete',
  total: count => s(count, 'Paket', 'Pakete'),
  empty: 'Noch wurde kein Paket hochgeladen.',
  platform: 'Plattform',
  all: 'alle Plattformen',
  column: {
    version: 'Version',
    platform: 'Plattform',
    file: 'Datei',
    size: 'Größe',
    digest: 'SHA-256',
    uploaded: 'Hochgeladen',
  },
  action: { create: 'Paket hochladen', download: 'Herunterladen' },
  of: { download: name => `Herunterladen: ${name}` },
  newest: 'neueste',
  forced: 'erzwingt ein Update',
  oldest: version => `älteste unterstützte: ${version}`,
  changes: 'Änderungen',
  by: name => `von ${name}`,
  tooLarge: 'Dieser Browser kann keine Datei dieser Größe speichern. Auf der Befehlszeile:',
  saved: name => `${name} wurde gespeichert; die SHA-256 stimmt.`,
  damaged: name =>
    `${name} kam beschädigt an: Die SHA-256 stimmt nicht. Nichts wurde gespeichert. Laden Sie das Paket erneut herunter.`,
  progress: (done, total) => `${done} von ${total}`,
  file: 'Paket',
  version: 'Versionsnummer',
  versionName: 'Anzeigename (optional)',
  changelog: 'Änderungen (optional)',
  oldestSupported: 'Älteste unterstützte Version (optional)',
  forceUpdate: 'Ältere Clients müssen aktualisieren',
  wrongFile: extensions => `Die Datei ist kein Installationspaket: ${extensions}.`,
  emptyFile: 'Die Datei ist leer.',
  largeFile: most => `Die Datei ist größer als ${most}.`,
  wrongVersion: 'Bis zu vier Zahlen mit Punkten, dann Teile mit - oder +, zum Beispiel 1.0.0 oder 1.2.0-rc.1.',
  exists: id => `Diese Version wurde schon als ${id} hochgeladen. Wählen Sie eine andere Versionsnummer.`,
  sending: name => `${name} wird gesendet`,
  checking: 'Das Paket ist gespeichert. Die SHA-256 wird verglichen …',
  cancel: 'Hochladen abbrechen',
  canceled: 'Das Hochladen wurde abgebrochen.',
  limit: minutes =>
    `Sie können zehn Pakete je Stunde hochladen. Versuchen Sie es in ${s(minutes, 'Minute', 'Minuten')} erneut.`,
  same: 'Die SHA-256 der Datei und die des Dienstes sind gleich.',
  different:
    'Der Dienst hat etwas anderes gespeichert als diese Datei. Verteilen Sie es nicht; laden Sie die Datei unter einer anderen Version hoch.',
  notCompared:
    'Das Paket ist gespeichert. Die Datei konnte nicht noch einmal gelesen werden; ihre SHA-256 wurde nicht verglichen.',
  ofFile: 'SHA-256 der Datei',
  ofDaemon: 'SHA-256 des Dienstes',
  uploaded: id => `Hochgeladen als ${id}`,
};

/** The page Users. */
export const users: typeof en.users = {
  title: 'Benutzer',
  total: count => `${grouped(count)} Benutzer`,
  column: { name: 'Name', role: 'Rolle', email: 'E-Mail', state: 'Zustand', since: 'Angelegt' },
  state: { enabled: 'aktiv', disabled: 'gesperrt', removed: 'entfernt' },
  you: 'Sie',
  action: {
    create: 'Benutzer anlegen',
    edit: 'Bearbeiten',
    password: 'Passwort',
    logout: 'Abmelden',
    disable: 'Sperren',
    enable: 'Entsperren',
  },
  of: {
    edit: name => `Bearbeiten: ${name}`,
    password: name => `Passwort von ${name}`,
    logout: name => `Abmelden: ${name}`,
    disable: name => `Sperren: ${name}`,
    enable: name => `Entsperren: ${name}`,
  },
  ask: {
    logout:
      'Alle Sitzungen dieses Benutzers enden sofort, auf jedem Rechner. Das Passwort bleibt unverändert. Diensttoken sind nicht betroffen.',
    disable:
      'Der Benutzer kann sich nicht mehr anmelden, und alle Sitzungen enden sofort. Was er getan hat, bleibt im Prüfprotokoll. Sie können ihn wieder entsperren.',
    enable: 'Der Benutzer kann sich wieder mit demselben Passwort anmelden.',
  },
  own: 'Auch diese Sitzung endet: Melden Sie sich danach erneut an.',
  ownRole: 'Ihre eigene Rolle können Sie hier nicht ändern. Ein anderer Administrator kann es.',
  username: 'Benutzername',
  usernameShape: 'ASCII-Buchstaben, Ziffern und - _ . @',
  email: 'E-Mail (optional)',
  current: 'Ihr jetziges Passwort',
  password: 'Neues Passwort',
  repeat: 'Passwort wiederholen',
  different: 'Die beiden Passwörter sind verschieden.',
  passwordEnds: 'Alle Sitzungen dieses Benutzers enden sofort.',
  done: {
    create: name => `${name} wurde angelegt.`,
    edit: name => `${name} wurde geändert.`,
    password: name => `${name} hat ein neues Passwort.`,
    logout: name => `${name} ist überall abgemeldet.`,
    disable: name => `${name} ist gesperrt.`,
    enable: name => `${name} ist entsperrt.`,
  },
};

/** The page Tokens. */
export const tokens: typeof en.tokens = {
  title: 'Diensttoken',
  hint: 'Ein Diensttoken ist für ein Programm, das sonst das Passwort einer Person bräuchte.',
  total: count => `${grouped(count)} Token`,
  empty: 'Noch wurde kein Token angelegt.',
  column: {
    name: 'Name',
    role: 'Rolle',
    may: 'Rechte',
    state: 'Zustand',
    expires: 'Läuft ab',
    used: 'Zuletzt benutzt',
    networks: 'Angenommen aus',
    by: 'Angelegt von',
  },
  action: { create: 'Token anlegen', revoke: 'Widerrufen' },
  of: { revoke: name => `Widerrufen: ${name}` },
  state: { valid: 'gültig', expired: 'abgelaufen', revoked: 'widerrufen' },
  anywhere: 'jedem Netz',
  permissions: 'Rechte neben der Rolle',
  permission: {
    webhooks: 'Webhooks',
    policies: 'Richtlinien',
    scim: 'SCIM (vorgesehen: noch ohne Funktion)',
  },
  nothing: 'keine',
  name: 'Name',
  nameHint: 'des Programms oder Arbeitsplatzes',
  days: (min, max) => `Gültig für Tage (${min} bis ${max})`,
  networks: 'Nur aus diesen Netzen annehmen (optional)',
  networksHint: 'Ein CIDR je Zeile, zum Beispiel 10.20.0.0/16. Leer: jedes Netz.',
  created: name => `Token ${name}`,
  once: 'Kopieren Sie das Token jetzt: Es wird nicht noch einmal angezeigt. Das Register speichert nur einen Hashwert davon.',
  askClose: 'Das Token wurde nicht kopiert. Nach dem Schließen dieses Dialogs wird es nicht mehr angezeigt.',
  keepOpen: 'Offen lassen',
  closeUncopied: 'Ohne Kopie schließen',
  token: 'Token',
  until: (role, time) => `Rolle: ${role}. Gültig bis ${time}.`,
  askRevoke:
    'Die nächste Anfrage mit diesem Token wird abgelehnt, und seine Streams enden. Ein widerrufenes Token bleibt widerrufen.',
  madeBy: name => `Angelegt mit ${name}`,
  askRemove: 'Das Token ist widerrufen. Diese Webhooks wurden mit ihm angelegt und erhalten weiter Ereignisse:',
  removeMade: 'Webhooks entfernen',
  removeLater: 'Später entfernen:',
  removed: name => `${name} ist widerrufen, und seine Webhooks sind entfernt.`,
  revoked: name => `${name} ist widerrufen.`,
};

/** The bench. */
export const webhooks: typeof en.webhooks = {
  title: 'Webhooks',
  hint: 'Jedes Ereignis des Registers wird an diese Adressen gesendet, der Reihe nach und signiert.',
  total: count => `${grouped(count)} ${count === 1 ? 'Webhook' : 'Webhooks'}`,
  empty: 'Noch wurde kein Webhook angelegt.',
  column: {
    url: 'Adresse',
    types: 'Ereignisse',
    state: 'Zustand',
    waiting: 'Wartend',
    delivered: 'Zuletzt zugestellt',
    by: 'Angelegt von',
  },
  action: {
    create: 'Webhook anlegen',
    deliveries: 'Zustellungen',
    test: 'Testen',
    disable: 'Abschalten',
    enable: 'Einschalten',
    remove: 'Entfernen',
  },
  of: {
    deliveries: url => `Zustellungen an ${url}`,
    test: url => `Testen: ${url}`,
    disable: url => `Abschalten: ${url}`,
    enable: url => `Einschalten: ${url}`,
    remove: url => `Entfernen: ${url}`,
  },
  ask: {
    test: 'Eine signierte Nachricht der Art WEBHOOK_TEST wird einmal gesendet.',
    disable: 'Bis zum Einschalten wird nichts gesendet. Ereignisse in dieser Zeit warten.',
    enable: 'Das Ereignis nach dem zuletzt zugestellten wird sofort gesendet, dann die späteren.',
    remove:
      'Geheimnis und Liste der Zustellungen werden gelöscht, wartende Ereignisse nicht gesendet. Das ist endgültig.',
  },
  done: {
    create: url => `${url} ist angelegt.`,
    test: (url, milliseconds) => `${url} hat die Nachricht in ${grouped(milliseconds)} ms angenommen.`,
    disable: url => `${url} ist abgeschaltet.`,
    enable: url => `${url} ist eingeschaltet.`,
    remove: url => `${url} ist entfernt.`,
  },
  notTaken: (url, reason) => `${url} hat die Nachricht nicht angenommen: ${reason}.`,
  state: { active: 'aktiv', retrying: 'wird wiederholt', disabled: 'abgeschaltet' },
  failures: count => `${grouped(count)} ${count === 1 ? 'Fehlversuch' : 'Fehlversuche'}, nächster:`,
  all: 'alle',
  waiting: count => (count < 100 ? `${count}` : '100 oder mehr'),
  types: 'Nur diese Ereignisse (keines gewählt: alle)',
  ownSecret: 'Eigenes Geheimnis, whsec_… (optional)',
  created: id => `Webhook ${id}`,
  once: 'Kopieren Sie das Geheimnis jetzt: Es wird nicht noch einmal angezeigt. Der Empfänger prüft damit die Signaturen.',
  secret: 'Geheimnis',
  attempts: count => `Die letzten ${count} Versuche, der neueste zuerst.`,
  noAttempt: 'Noch wurde nichts gesendet.',
  attempt: { at: 'Zeit', event: 'Ereignis', attempt: 'Versuch', result: 'Ergebnis' },
  delivered: 'zugestellt',
  failed: 'fehlgeschlagen',
};

export const bench: typeof en.bench = {
  title: 'Arbeitsplatz',
  intro: 'Person, Schlüssel, abziehen: Der Schlüssel wird registriert und für die Person aktiviert.',
  sound: 'Ton',
  notAllowed:
    'Ihre Rolle erlaubt das Ansehen, nicht die Ausgabe von Schlüsseln. Ein Administrator kann Ihnen die Rolle DEALER geben.',
  elsewhere: {
    none: 'Dieser Dienst sucht keine Schlüssel: Er wurde nur für das Register gestartet.',
    unavailable: 'Dieser Dienst findet auf seinem Rechner keine Schlüssel:',
    command: 'Geben Sie Schlüssel dort aus, wo sie eingesteckt werden, mit der Befehlszeile:',
    again: 'Erneut suchen',
  },
  call: {
    roster: 'Benutzer-ID oder Name',
    open: 'Benutzer-ID der Person',
    submit: 'Aufrufen',
    hint: 'Tippen Sie sie ein, oder scannen Sie einen Ausweis.',
  },
  stage: {
    label: 'Schlüssel und Person',
    unnamed: 'Ausweis scannen oder Person eintippen',
    all: 'Alle Personen der Liste haben ihre Schlüssel',
    keyOf: (number, all) => `Schlüssel ${grouped(number)} von ${grouped(all)}`,
    emptyOpen: 'Stecken Sie dann den Schlüssel ein.',
    wait: 'WARTEN',
    asideOpen:
      'Ein Schlüssel ist eingesteckt. Scannen Sie den Ausweis der Person, oder tippen Sie die Benutzer-ID ein.',
    bind: 'Binden (Enter)',
    undo: 'Zurücknehmen (Esc)',
    skip: 'Person überspringen',
    redo: 'Zurück zur letzten Person',
    ignore: 'Nicht beachten',
    ignoreKey: key => `Nicht beachten: ${key}`,
    ignored: count => `Unbeachtet bis zum Abziehen: ${grouped(count)}`,
    unreadable: 'Schlüssel ohne lesbare Seriennummer',
    unregistered: 'nicht registriert',
    keys: 'Eingesteckte Schlüssel',
    simulated: 'simuliert',
  },
  roster: {
    title: 'Liste der Personen',
    file: 'CSV-Datei mit den Spalten userId, name, count und type',
    hint: 'Nur userId ist nötig. Die Datei wird in diesem Browser gelesen und nirgendwohin gesendet.',
    remove: 'Liste entfernen',
    unused: columns => `Nicht verwendete Spalten: ${columns.join(', ')}.`,
  },
};

/** A run at the bench: what is decided and listed. */
export const benchRun: typeof en.benchRun = {
  stage: {
    empty: person => `Stecken Sie einen Schlüssel für ${person} ein.`,
    checking: 'Der Schlüssel wird geprüft … Wenn er blinkt, berühren Sie ihn.',
    pass: 'GUT',
    ready: person =>
      `Ziehen Sie den Schlüssel ab, oder drücken Sie Enter: Er wird an ${person} gebunden. Esc nimmt zurück.`,
    fail: 'FEHLER',
    still: person => `Nichts wurde gebunden. ${person} braucht noch einen Schlüssel.`,
    committing: 'Wird gebunden …',
    away: 'Der Dienst antwortet nicht. Die Bindung wird gesendet, sobald er antwortet, und nur einmal ausgeführt.',
    bound: 'GEBUNDEN',
    boundTo: (key, person) => `${key} ist an ${person} gebunden und aktiv.`,
    stop: 'HALT',
    crowded:
      'Zwei Schlüssel sind eingesteckt: Nichts wird gebunden. Ziehen Sie beide ab, oder lassen Sie einen unbeachtet.',
    aside:
      'Ein Schlüssel ist eingesteckt, und es ist nicht bekannt, für wen. Stecken Sie ihn neu ein, oder scannen Sie einen Ausweis.',
    held: 'Nichts wird gebunden, bis Sie einen gültigen Ausweis scannen oder Esc drücken.',
  },
  check: { serial: 'Seriennummer', type: 'Art', free: 'Frei für die Person', proof: 'Nachweis' },
  passed: 'gut',
  failed: 'Fehler',
  code: 'Der Schlüssel ist registriert, aber nicht aktiv. Sein Aktivierungscode, nur hier gezeigt:',
  roster: {
    progress: (finished, all) => `${grouped(finished)} von ${grouped(all)} Zeilen erledigt`,
    skipped: count => `${grouped(count)} übersprungen`,
    waiting: 'Als Nächste',
    more: count => `und ${grouped(count)} weitere`,
  },
  failure: {
    'serial number unreadable': 'Die Seriennummer ist nicht lesbar.',
    'wrong type': 'Die Person bekommt einen Schlüssel anderer Art.',
    'counted before': 'Dieser Schlüssel wurde hier schon gebunden. Nehmen Sie einen anderen.',
    'bound to another person': 'Dieser Schlüssel ist schon registriert und an eine andere Person gebunden.',
    LOCKED: 'Dieser Schlüssel ist schon registriert und gesperrt.',
    DEACTIVATED: 'Dieser Schlüssel ist schon registriert und stillgelegt.',
    'pulled too early': 'Der Schlüssel wurde vor dem Ende der Prüfung abgezogen. Stecken Sie ihn wieder ein.',
    refused: 'Das Register lehnt ihn ab.',
    proof: 'Er weist nicht nach, was das Register verlangt:',
    'no answer': 'Der Dienst antwortet nicht.',
  },
  said: {
    'two keys': 'Zwei neue Schlüssel zugleich: Nichts wird gebunden.',
    undone: 'Zurückgenommen: Nichts wurde geschrieben. Ziehen Sie den Schlüssel ab.',
    skipped: 'Übersprungen. Ein Ausweis führt zu dieser Person zurück.',
    redo: 'Zurück zur letzten Person. Ziehen Sie den Schlüssel ab.',
    'redo of a binding': 'Zurück zur letzten Person, für einen weiteren Schlüssel. Der erste bleibt gebunden.',
    'nothing to redo': 'Nur die letzte Person ist wiederholbar, bevor der nächste Schlüssel gebunden ist.',
    'nothing to confirm': 'Nichts zu bestätigen: Kein Schlüssel hat die Prüfung bestanden.',
    'nothing confirmed yet':
      'Enter kam gleich nach einer anderen Taste: Nichts wird gebunden. Drücken Sie Enter noch einmal.',
    'nothing to undo': 'Nichts zurückzunehmen: Was gebunden ist, bleibt hier gebunden.',
    badge: 'Ausweis erkannt.',
    'badge incomplete': 'Der Scan war unvollständig: Scannen Sie den Ausweis noch einmal.',
    'unplugged during a scan':
      'Der Schlüssel wurde während eines Scans abgezogen: Nichts wird gebunden. Stecken Sie ihn neu ein.',
    'badge unknown': 'Das ist keine bekannte Benutzer-ID und kein bekannter Name.',
    'badge of several': 'Mehrere Personen der Liste heißen so: Scannen Sie eine Benutzer-ID.',
    'badge of a person who is done': 'Diese Person hat alle Schlüssel der Liste.',
    lost: 'Die Verbindung war unterbrochen: Nichts wird gebunden. Stecken Sie den Schlüssel neu ein.',
  },
  results: {
    title: 'Ergebnisse',
    passed: 'gebunden',
    failed: 'Fehler',
    yield: 'Ausbeute',
    perHour: 'Schlüssel je Stunde',
    newest: 'Die neuesten 20 Ergebnisse',
    time: 'Zeit',
    person: 'Person',
    serial: 'Seriennummer',
    device: 'Gerät',
    result: 'Ergebnis',
    bound: 'gebunden',
    download: 'Als CSV herunterladen',
    clear: 'Ergebnisse löschen',
  },
};

/** Why a file is not a roster. */
export const rosterFaults: typeof en.rosterFaults = {
  /** What is wrong with the file, or with the line that it names. */
  of: ({ fault }: FileFault): string => {
    switch (fault.what) {
      case 'column twice':
        return `zwei Spalten für ${fault.column}`;
      case 'column missing':
        return 'die Spalte userId fehlt';
      case 'cells':
        return `sie hat ${fault.found} Zellen, die Kopfzeile ${fault.expected}: Enthält eine Zelle ein Komma ohne Anführungszeichen?`;
      case 'userId':
        return fault.text === '' ? 'userId ist leer' : `${fault.text} ist keine gültige userId`;
      case 'name':
        return `name hat mehr als ${rosterBounds.name} Zeichen`;
      case 'type':
        return 'type muss UKEY oder SIMKEY sein';
      case 'count':
        return `count muss eine ganze Zahl von 1 bis ${rosterBounds.keys} sein`;
      case 'person twice':
        return `${fault.userId} steht schon in Zeile ${fault.earlier}`;
      case 'lines':
        return `eine Liste hat höchstens ${grouped(rosterBounds.lines)} Zeilen`;
      case 'open quote':
        return 'ein Anführungszeichen wird nicht geschlossen';
      case 'text after quote':
        return 'auf ein schließendes Anführungszeichen folgt Text';
      case 'encoding':
        return `kein gültiges ${fault.encoding.toUpperCase()}. Speichern Sie die Datei als UTF-8 (in Excel: CSV UTF-8), oder wählen Sie ihre Kodierung.`;
      case 'empty':
        return 'Die Datei enthält keine Personen.';
      case 'too large':
        return 'Die Datei ist zu groß für eine Liste von Personen.';
      case 'unreadable':
        return 'Die Datei ist nicht lesbar.';
    }
  },
  line: (line, problem) => `Zeile ${grouped(line)}: ${problem}`,
  encoding: 'Kodierung der Datei',
  readAgain: 'Datei erneut lesen',
};
