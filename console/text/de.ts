/** The words of the console in German. */
import { Code, type ErrorCode } from '../../src/contract/codes.ts';
import { statisticsRange } from '../../src/contract/values.ts';
import { rosterBounds } from '../../src/enrollment/line/roster.ts';
import type * as en from './en.ts';
import { duration, grouped } from './numbers.ts';

const s = (count: number, one: string, many: string) => `${grouped(count)} ${count === 1 ? one : many}`;

/** The refusals of the daemon by code. */
const refusals: Readonly<Record<ErrorCode, string>> = {
  1001: 'Der Dienst nimmt eine Angabe nicht an, oder der Zustand erlaubt das nicht',
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
  2007: 'Ihre Rolle oder Ihr Konto erlaubt das nicht.',
  3001: 'Diese Sicherung gibt es nicht.',
  3002: 'Die Wiederherstellung ist fehlgeschlagen: Die Sicherung ist beschädigt oder fehlt.',
  4001: 'Diese Version gibt es nicht.',
  4002: 'Die Datei konnte nicht hochgeladen werden.',
  404: 'Das gibt es nicht, oder es wurde inzwischen entfernt.',
  412: 'Das Gerät wurde inzwischen geändert.',
  416: 'Diesen Teil der Datei gibt es nicht.',
  429: 'Zu viele Anfragen. Versuchen Sie es später erneut.',
  500: 'Interner Fehler. Das Protokoll des Dienstes nennt Einzelheiten unter der Nummer der Anfrage.',
};

/** The field or device that the daemon names, which comes first; else its words. */
const subjectOf = (message: string): string =>
  /^(?!(?:the|an?|this|you|send) )([\w.[\]-]+)(?=:? )/.exec(message)?.[1] ?? message;

/** What every page needs. */
export const common: typeof en.common = {
  code: 'de',
  nav: {
    label: 'Seiten',
    skip: 'Zum Inhalt',
    find: 'Finden',
    group: { devices: 'Geräte', line: 'Linie', administration: 'Verwaltung' },
    overview: 'Übersicht',
    devices: 'Geräte',
    bench: 'Arbeitsplatz',
    activity: 'Verlauf',
    lots: 'Lose',
    stations: 'Stationen',
    cleanup: 'Aufräumen',
    packages: 'Pakete',
    people: 'Personen',
    users: 'Benutzer',
    tokens: 'Token',
    policies: 'Richtlinien',
    trust: 'Vertrauen',
    webhooks: 'Webhooks',
    providers: 'Anbieter',
    import: 'Geräte importieren',
    health: 'Zustand',
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
    limited: seconds => `Zu viele Anfragen: Diese wird in ${s(seconds, 'Sekunde', 'Sekunden')} erneut gesendet.`,
    refusal: (code: ErrorCode, message: string): string =>
      code === Code.parameterError ? `${refusals[code]}: ${subjectOf(message)}` : refusals[code],
    original: 'Wortlaut auf Englisch',
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
    addDevice: 'Neues Gerät',
    change: 'Ändern',
    signInWith: provider => `Mit ${provider} anmelden`,
    of: (action, name) => `${action}: ${name}`,
    optional: name => `${name} (optional)`,
    actionsFor: name => `Aktionen für ${name}`,
    copied: 'Kopiert',
    devices: (count: number) => `${grouped(count)} ${count === 1 ? 'Gerät' : 'Geräte'}`,
    stillLocked: (devices: string) => `noch gesperrt: ${devices}`,
    times: (count: number) => `${grouped(count)}-mal`,
    noEvents: 'Noch ist nichts geschehen.',
    page: (page, pages) => `Seite ${grouped(page)} von ${grouped(pages)}`,
  },
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
    name: 'Name',
    userName: 'Benutzername',
    role: 'Rolle',
    email: 'E-Mail',
    by: 'Angelegt von',
    time: 'Zeit',
    person: 'Person',
    result: 'Ergebnis',
    file: 'Datei',
    size: 'Größe',
    note: 'Bemerkung',
    code: 'Aktivierungscode',
  },
  role: { ADMIN: 'Administrator', DEALER: 'Händler', VIEWER: 'Leser' },
  menu: {
    keys: 'Passwort und Sicherheitsschlüssel',
    signOut: 'Abmelden',
    theme: 'Farben',
    light: 'hell',
    dark: 'dunkel',
    system: 'wie das System',
    language: 'Sprache',
  },
  toast: { region: 'Meldungen', undo: 'Rückgängig', dismiss: 'Ausblenden' },
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
    PERSON_LEFT: 'Person ist ausgeschieden',
    PERSON_HELD: 'Sperren zurückgehalten: Geräte warten auf Freigabe',
    PERSON_RETURNED: 'Person ist zurück',
    RECEIPT_SIGNED: 'Beleg unterschrieben',
    LOAN_OVERDUE: 'Leihe ist überfällig',
    KEY_ATTACHED: 'eingesteckt',
    KEY_DETACHED: 'abgezogen',
  },
  who: {
    by: (kind: string, name: string) => `von ${kind}${name}`,
    kind: { user: '', token: 'Diensttoken ', daemon: 'Programm ', directory: 'Verzeichnis ', provider: 'Anbieter ' },
    changes: 'Was geändert wurde',
    field: { note: 'Bemerkung', tags: 'Merkmale', firmwareVersion: 'Firmwareversion' },
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
    UPDATE: 'Merkmale',
  },
};

/** The first page, with its charts. */
export const overview: typeof en.overview = {
  devices: 'Geräte',
  perHour: 'Registrierungen je Stunde',
  perDay: 'Registrierungen je Tag',
  states: 'Geräte in jedem Zustand',
  attention: {
    title: 'Braucht Aufmerksamkeit',
    none: 'Nichts braucht Aufmerksamkeit.',
    codes: `Aktivierungscodes, die in ${statisticsRange.dueDays} Tagen ablaufen oder abgelaufen sind`,
    advisory: (advisory: string) => `Schlüssel, für die ${advisory} gilt`,
    webhooks: 'Webhooks, die scheitern',
    removals: 'Anmeldungen, die Anbieter noch annehmen',
    held: 'Ausgeschiedene, deren Geräte auf eine Freigabe warten',
    unused: `aktiv, seit ${statisticsRange.unusedDays} Tagen nicht benutzt`,
  },
  by: { manufacturer: 'Hersteller', model: 'Modell', lot: 'Los', site: 'Standort', station: 'Station' },
  types: { UKEY: 'USB-Schlüssel', SIMKEY: 'SIM-Schlüssel' },
  newest: 'Neueste Ereignisse',
  chart: { sum: count => `${grouped(count)} insgesamt`, table: 'Als Tabelle', count: 'Registrierungen' },
};

/** Lists of receipts. */
export const receipts: typeof en.receipts = {
  title: 'Belege',
  none: 'Keine Belege.',
  overdue: 'Überfällige Leihen',
  kind: { handover: 'Übergabe', loan: 'Leihe', return: 'Rückgabe' },
  column: { kind: 'Art', device: 'Gerät', person: 'Person', date: 'Datum', due: 'Fällig', receipt: 'Beleg' },
  more: count => `${count} weitere: devmgr receipt list`,
};

/** The page Activity. */
export const activity: typeof en.activity = {
  search: { deviceId: 'Gerät', actor: 'Person', from: 'Von (Tag)', to: 'Bis (Tag)' },
  types: 'Nur zeigen',
  earlier: 'Frühere Ereignisse',
  whole: 'Hier beginnt das Journal.',
};

/** Roles, and what they allow. */
export const roles: typeof en.roles = {
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
  byProvider:
    'Sie haben hier kein Passwort: Ihre Anmeldung beim Anbieter bestätigt. Ist sie älter als zehn Minuten, melden Sie sich dort noch einmal an.',
  userId: 'Benutzer',
  unknownPerson: 'Wählen Sie eine Person: Keine aktive Person hat diesen Benutzernamen.',
  activationCode: 'Aktivierungscode',
  setTags: 'Merkmale, die gesetzt werden: je Zeile name:wert',
  removeTags: 'Namen von Merkmalen, die entfernt werden, mit Leerzeichen dazwischen',
  final: 'Ein stillgelegtes Gerät kann nie wieder benutzt werden.',
};

/** Signing in. */
export const signIn: typeof en.signIn = {
  signIn: {
    title: 'Anmelden',
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
  provider: {
    away: 'Der Anbieter antwortet nicht. Versuchen Sie es später noch einmal, oder melden Sie sich mit einem lokalen Konto an.',
    denied: 'Der Anbieter hat niemanden angemeldet.',
    disabled: 'Ihr Konto ist hier gesperrt. Fragen Sie einen Administrator.',
    groups: 'Sie sind in keiner der Gruppen, die dieses Register benutzen dürfen. Fragen Sie einen Administrator.',
    key: 'Ihr Konto muss sich mit einem Sicherheitsschlüssel anmelden, und der Anbieter meldet nicht, dass das geschehen ist.',
    other:
      'Mit der Rolle, die Ihre Gruppen jetzt haben, können Sie nicht angemeldet werden. Fragen Sie einen Administrator.',
    overage: 'Sie sind in so vielen Gruppen, dass der Anbieter sie nicht mitschickt. Fragen Sie einen Administrator.',
    state:
      'Diese Anmeldung begann nicht in diesem Browser, wurde schon benutzt oder hat zu lange gedauert. Versuchen Sie es noch einmal.',
    token: 'Was der Anbieter geschickt hat, ist nicht gültig. Fragen Sie einen Administrator.',
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
  noneOfUser: 'Dieser Benutzer hat keinen Sicherheitsschlüssel.',
  password: 'Passwort ändern',
  column: { name: 'Name des Schlüssels', site: 'Gilt für' },
  action: { remove: 'Entfernen' },
  of: { remove: name => `Schlüssel entfernen: ${name}` },
  ask: { remove: 'Er gilt nicht mehr für die Anmeldung und kann nicht noch einmal registriert werden.' },
  keyExample: 'zum Beispiel: Schreibtisch',
  add: 'Schlüssel registrieren',
  cannot:
    'Browser benutzen Sicherheitsschlüssel nur über HTTPS und auf localhost. Öffnen Sie die Konsole unter einer solchen Adresse, um einen zu registrieren.',
  requireOwn: 'Für dieses Konto bei jeder Anmeldung einen Schlüssel verlangen',
};

/** The page that signs in a terminal. */
export const terminal: typeof en.terminal = {
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
  import: 'Importieren',
  searchHint: 'ID, Seriennummer, Benutzer',
  persons: 'Personen dieses Namens',
  columns: 'Spalten',
  views: 'Ansichten',
  every: 'Alle',
  saveView: 'Als Ansicht speichern',
  viewName: 'Name der Ansicht',
  viewHint: 'Dieser Browser merkt sich Namen, Suche und Spalten. Die Adresse zeigt sie jedem.',
  removeView: name => `Ansicht ${name} entfernen`,
  filters: 'Filter',
  applied: 'Gesetzte Filter',
  filter: {
    keyword: 'Suche',
    status: 'Zustand',
    deviceType: 'Art',
    proof: 'Nachweis',
    tag: 'Merkmal',
    manufacturer: 'Hersteller (genau)',
    model: 'Modell (genau)',
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

/** The dialog that adds a device. */
export const adding: typeof en.adding = {
  title: 'Ein Gerät hinzufügen',
  submit: 'Hinzufügen',
  plugged: 'Schlüssel am Rechner des Dienstes',
  byHand: 'keiner: Angaben eintippen',
  plugIn: 'Ein neuer Schlüssel, der am Rechner des Dienstes steckt, kann hier gewählt werden.',
  tags: 'Merkmale, je Zeile eines, etwa lot:7 (optional)',
  added: id => `${id} wurde hinzugefügt`,
  activated: userId => `Für ${userId} aktiviert.`,
  another: 'Noch eines',
  open: 'Gerät öffnen',
};

/** The import of a file of devices. */
export const importing: typeof en.importing = {
  hint: 'Registriert die Geräte einer Datei. Sie wird in diesem Browser gelesen; Spalten mit Geheimnissen werden nie gesendet.',
  fileHint: 'CSV mit Kopfzeile, JSON, JSON-Zeilen oder Schlüsselpakete (PSKC).',
  interrupted: name =>
    `Der Import von ${name} wurde nicht beendet. Wählen Sie die Datei noch einmal, um fortzufahren: Kein Gerät wird zweimal registriert, und die Ergebnisse haben alle Aktivierungscodes.`,
  columns: 'Spalten',
  preset: 'Die Datei ist von',
  presets: {
    '': 'irgendwo: Die Spalten heißen wie die Felder',
    yubico: 'Yubico: Seriennummern oder Key Provisioning',
    'entra-oath': 'Microsoft Entra: OATH-Token',
    'snipe-it': 'Snipe-IT: Assets',
    pskc: 'Schlüsselpakete (PSKC, XML)',
  },
  column: { name: 'Spalte', example: 'In der ersten Zeile', field: 'Wird gelesen als' },
  fieldOf: column => `Feld der Spalte ${column}`,
  ignored: 'nicht gelesen',
  secret: 'enthält Geheimnisse: wird nicht gesendet',
  defaults: 'Für Zeilen ohne Angabe',
  noDefault: 'keiner',
  check: 'Datei prüfen',
  reading: count => `Wird geprüft: ${s(count, 'Zeile', 'Zeilen')} …`,
  plan: 'Was geschehen würde',
  planned: count => `${s(count, 'Gerät würde', 'Geräte würden')} registriert. Noch ist nichts geändert.`,
  start: count => `${s(count, 'Gerät', 'Geräte')} registrieren`,
  result: 'Ergebnis',
  done: count => `${s(count, 'Gerät', 'Geräte')} registriert.`,
  codes: 'Die Datei mit den Ergebnissen enthält die Aktivierungscodes. Bewahren Sie sie sicher auf.',
  noted: 'Zeilen, die nicht neu sind',
  kind: {
    new: 'neu',
    added: 'registriert',
    exists: 'schon registriert',
    differs: 'weicht vom Register ab',
    refused: 'abgelehnt',
  },
  line: { line: 'Zeile', kind: 'Was', why: 'Warum', count: 'Zeilen' },
  fault: {
    empty: 'Die Datei ist leer.',
    header: 'Die erste Zeile muss die Namen der Spalten haben.',
    'columns absent': 'Diese Spalten hat die Datei nicht:',
    'fields missing': 'Keine Spalte und kein Wert ist zugeordnet:',
    'column twice': 'Zwei Spalten sind zugeordnet:',
    'tag name': 'Diese Spalte ist kein gültiger Name eines Merkmals:',
    array: 'Das ist keine gültige JSON-Liste.',
    'too long': 'Eine Zeile ist länger als 1 MiB.',
    xml: 'Von XML-Dateien können nur Schlüsselpakete (PSKC) gelesen werden: Wählen Sie diese oben.',
    pskc: 'Das sind keine gültigen Schlüsselpakete.',
    'no packages': 'Die Datei hat keine Schlüsselpakete.',
  },
};

/** Bulk operations. */
export const bulk: typeof en.bulk = {
  counting: count => (count ? `Wird gezählt: bisher ${s(count, 'Gerät', 'Geräte')} …` : 'Wird gezählt …'),
  count: 'Geräte',
  what: 'Was geschieht',
  changed: 'wird geändert',
  skipped: 'übersprungen: Der Zustand lässt es nicht zu',
  preview: {
    LOCK: count => `${s(count, 'Gerät wird', 'Geräte werden')} gesperrt.`,
    UNLOCK: count => `${s(count, 'Gerät wird', 'Geräte werden')} entsperrt.`,
    GENERATE_CODE: count =>
      `${s(count, 'Gerät erhält', 'Geräte erhalten')} einen neuen Code. Frühere Codes werden ungültig.`,
    DEACTIVATE: count => `${s(count, 'Gerät wird', 'Geräte werden')} stillgelegt.`,
    UPDATE: count => `Die Merkmale von ${s(count, 'Gerät', 'Geräten')} ändern sich. Andere Merkmale bleiben.`,
  },
  start: {
    LOCK: count => `${s(count, 'Gerät', 'Geräte')} sperren`,
    UNLOCK: count => `${s(count, 'Gerät', 'Geräte')} entsperren`,
    GENERATE_CODE: count => `${s(count, 'Code', 'Codes')} ersetzen`,
    DEACTIVATE: count => `${s(count, 'Gerät', 'Geräte')} stilllegen`,
    UPDATE: count => `${s(count, 'Gerät', 'Geräte')} ändern`,
  },
  done: {
    LOCK: count => `${s(count, 'Gerät', 'Geräte')} gesperrt.`,
    UNLOCK: count => `${s(count, 'Gerät', 'Geräte')} entsperrt.`,
    GENERATE_CODE: count => `${s(count, 'Code', 'Codes')} ersetzt.`,
    DEACTIVATE: count => `${s(count, 'Gerät', 'Geräte')} stillgelegt.`,
    UPDATE: count => `${s(count, 'Gerät', 'Geräte')} geändert.`,
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
  codes: 'Neue Codes',
  showCodes: 'Codes anzeigen',
  hideCodes: 'Codes verbergen',
  downloadCodes: 'Codes laden (CSV)',
};

/** The page of a device. */
export const device: typeof en.device = {
  back: 'Alle Geräte',
  factGroups: { key: 'Schlüssel', person: 'Person und Nutzung', state: 'Zustand' },
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
  conflict: {
    title: 'Jemand anders hat dies geändert, seit Sie begonnen haben.',
    stored: 'Jetzt gespeichert',
    mine: 'Ihr Text',
    none: 'Nichts',
    keepStored: 'Gespeichertes behalten',
    keepMine: 'Durch meines ersetzen',
  },
  readOnly: 'Merkmale, Bemerkung und Firmwareversion lassen sich ändern, solange das Gerät inaktiv oder aktiv ist.',
  code: {
    title: 'Aktivierungscode',
    hidden: 'Verborgen. Er wird eine Minute lang angezeigt.',
    show: 'Code anzeigen',
    hide: 'Code verbergen',
    expires: time => `Gültig bis ${time}`,
    qr: 'Aktivierungscode als QR-Code',
  },
  action: {
    deviceId: id => `Geben Sie die ID des Geräts ein: ${id}`,
    GENERATE_CODE: 'Der bisherige Code wird ungültig.',
    LOCK: 'Das Gerät kann erst nach dem Entsperren wieder benutzt werden.',
    UNLOCK: 'Das Gerät kann wieder benutzt werden.',
    ACTIVATE: 'Das Gerät wird an den Benutzer gebunden.',
  },
  history: { title: 'Verlauf', older: 'Ältere Ereignisse', begin: 'Das ist alles.' },
  backups: {
    title: 'Sicherungen',
    none: 'Keine Sicherungen.',
    column: { at: 'Gespeichert' },
    bytes: count => `${grouped(count)} Byte`,
    action: { download: 'Herunterladen', restore: 'Als wiederhergestellt vermerken' },
    ask: {
      restore:
        'Der Dienst vergleicht die gespeicherte Datei mit ihrer Prüfsumme, und das Journal vermerkt die Wiederherstellung. Laden Sie die Datei herunter, um den Schlüssel wiederherzustellen.',
    },
    done: { restore: name => `${name} ist unversehrt und als wiederhergestellt vermerkt.` },
    add: 'Sicherung hinzufügen',
    added: id => `Die Sicherung ist als ${id} gespeichert.`,
    hint: 'Eine verschlüsselte Datei von höchstens 64 MiB. Der Dienst liest sie nicht.',
    fault: 'Die Datei ist leer oder größer als 64 MiB.',
    sending: 'Die Sicherung wird gesendet',
    more: count => `${grouped(count)} ältere: devmgr backups list`,
  },
  use: {
    title: 'Nutzung erfassen',
    hint: 'Zählt eine Nutzung und ihre Dauer zu den Summen des Geräts. Programme, die das Gerät benutzen, melden das selbst.',
    minutes: 'Dauer in Minuten',
    fault: 'Eine Zahl von Minuten, höchstens 366 Tage.',
  },
  label: { title: 'Etikett', text: 'An einem Arbeitsplatz mit Etikettendrucker:', print: 'Diese Seite drucken' },
};

/** The pages of lots and stations. */
export const line: typeof en.line = {
  lot: {
    name: 'Los',
    hint: 'Die Geräte nach ihrem Merkmal lot. Die Seite eines Loses folgt der Linie, während sie läuft.',
    empty: 'Kein Gerät hat das Merkmal lot. Eine Linie setzt es:',
  },
  station: {
    name: 'Station',
    hint: 'Die Geräte nach ihrem Merkmal station, das die Linie bei der Aufnahme setzt.',
    empty: 'Kein Gerät hat das Merkmal station. Eine Linie setzt es:',
  },
  devices: 'Geräte',
  tokenUsed: 'Token zuletzt benutzt',
  none: 'Kein Gerät hat dieses Merkmal.',
  facts: {
    first: 'Erste Registrierung',
    last: 'Letzte Registrierung',
    perHour: 'Geräte je Stunde',
    median: 'Zwischen zwei Geräten, Median',
    p95: 'Zwischen zwei Geräten, 95 %',
    persons: 'Personen',
  },
  registrations: minutes =>
    minutes === 1 ? 'Registrierungen je Minute' : `Registrierungen je ${duration(60 * minutes)}`,
  keys: 'Schlüssel am Rechner des Dienstes',
  noKeys: 'Kein Schlüssel ist eingesteckt.',
};

/** The page Health. */
export const health: typeof en.health = {
  summary: count =>
    count === 0 ? 'Alle Teile arbeiten.' : `${s(count, 'Teil braucht', 'Teile brauchen')} einen Blick.`,
  state: { good: 'arbeitet', warn: 'ansehen', bad: 'arbeitet nicht', off: 'nicht eingerichtet' },
  part: {
    node: 'Dieser Dienst',
    daemons: 'Alle Dienste',
    store: 'Speicher',
    forwarding: 'Weiterleitung',
    webhooks: 'Webhooks',
    directory: 'Verzeichnis',
    providers: 'Anbieter',
    drivers: 'Schlüssel an diesem Rechner',
  },
  node: (node, version, seconds) => `${node}, devmgr ${version}, seit ${duration(Math.max(60, seconds))} in Betrieb.`,
  daemons: count => `${s(count, 'Dienst benutzt', 'Dienste benutzen')} dieses Register.`,
  off: 'Nicht eingerichtet.',
  waiting: count => `${s(count, 'Eintrag des Journals wartet', 'Einträge des Journals warten')} auf die Weiterleitung.`,
  failing: count => `${s(count, 'Webhook scheitert', 'Webhooks scheitern')}.`,
  directory: fails => (fails ? 'Der letzte Lauf ist gescheitert: niemand scheidet aus.' : 'Personen kommen daraus.'),
  providers: pending =>
    pending === 0
      ? 'Keine Anmeldung ist zu entfernen.'
      : `${s(pending, 'Anmeldung ist', 'Anmeldungen sind')} noch zu entfernen.`,
  todo: {
    node: 'Schicken Sie diesem Dienst keine Anfragen. Die Ursache steht im Protokoll: devmgr daemon logs.',
    daemons: '',
    store: 'Prüfen Sie die Festplatte oder den Datenbankserver, danach: devmgr daemon check.',
    forwarding:
      'Wenn die Zahl wächst, prüfen Sie den Empfänger von --forward. Es geht nichts verloren, solange er fehlt.',
    webhooks:
      'Sehen Sie unter Webhooks die Zustellungen an, reparieren Sie den Empfänger, und schalten Sie den Webhook ein.',
    directory: 'Öffnen Sie unter Richtlinien das Verzeichnis: dort steht die Ursache. Lesen Sie es danach noch einmal.',
    providers:
      'Wenn die Zahl bleibt, öffnen Sie Anbieter: die Liste nennt die Ursache. Das Register wiederholt das Entfernen.',
    drivers: 'Nur nötig, wenn hier Schlüssel eingesteckt werden. devmgr doctor nennt die Abhilfe.',
  },
};

/** The page Cleanup. */
export const cleanup: typeof en.cleanup = {
  hint: 'Nicht mehr benötigte Geräte sperren oder stilllegen. Der Plan ändert nichts; ein Gerät, das sich seitdem geändert hat, bleibt, wie es ist.',
  filterNeeded: 'Ein Plan braucht einen Filter neben dem Zustand, zum Beispiel:',
  unused: days => `aktiv, seit ${days} Tagen nicht benutzt`,
  plan: { lock: 'Plan: sperren', deactivate: 'Plan: stilllegen' },
  tooMany: most => `Mehr als ${grouped(most)} Geräte passen. Fügen Sie einen Filter hinzu.`,
  dryRun: 'Plan',
  would: {
    lock: count => `${s(count, 'Gerät würde', 'Geräte würden')} gesperrt`,
    deactivate: count => `${s(count, 'Gerät würde', 'Geräte würden')} stillgelegt`,
  },
  examples: 'Die ersten Geräte des Plans',
  more: count => `und ${s(count, 'weiteres Gerät', 'weitere Geräte')}`,
  carryOut: 'Ausführen',
  changed: {
    title: count => `${s(count, 'Gerät hat', 'Geräte haben')} sich seit dem Plan geändert: ausgelassen.`,
    unmatched: 'die Filter des Plans passen nicht mehr',
    status: (before, now) => `es war ${before} und ist ${now}`,
    user: user => `es ist an ${user} gebunden`,
    used: 'es wurde benutzt',
    other: 'es hat sich geändert',
    done: state => `es ist schon ${state}`,
  },
};

/** The page Packages. */
export const packages: typeof en.packages = {
  title: 'Pakete',
  total: count => s(count, 'Paket', 'Pakete'),
  empty: 'Noch wurde kein Paket hochgeladen.',
  all: 'alle Plattformen',
  column: { version: 'Version', platform: 'Plattform', digest: 'SHA-256', uploaded: 'Hochgeladen' },
  action: { create: 'Paket hochladen', download: 'Herunterladen' },
  newest: 'neueste',
  forced: 'erzwingt ein Update',
  oldest: version => `älteste unterstützte: ${version}`,
  changes: 'Änderungen',
  by: name => `von ${name}`,
  tooLarge: 'Dieser Browser kann keine Datei dieser Größe speichern. Auf der Befehlszeile:',
  saved: name => `${name} wurde gespeichert; der SHA-256-Wert stimmt.`,
  damaged: name =>
    `${name} kam beschädigt an: Der SHA-256-Wert stimmt nicht. Nichts wurde gespeichert. Laden Sie das Paket erneut herunter.`,
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
  checking: 'Das Paket ist gespeichert. Der SHA-256-Wert wird verglichen …',
  cancel: 'Hochladen abbrechen',
  canceled: 'Das Hochladen wurde abgebrochen.',
  limit: minutes =>
    `Sie können zehn Pakete je Stunde hochladen. Versuchen Sie es in ${s(minutes, 'Minute', 'Minuten')} erneut.`,
  same: 'Die SHA-256-Werte der Datei und des Dienstes sind gleich.',
  different:
    'Der Dienst hat etwas anderes gespeichert als diese Datei. Verteilen Sie es nicht; laden Sie die Datei unter einer anderen Version hoch.',
  notCompared:
    'Das Paket ist gespeichert. Die Datei konnte nicht noch einmal gelesen werden; ihr SHA-256-Wert wurde nicht verglichen.',
  ofFile: 'SHA-256 der Datei',
  ofDaemon: 'SHA-256 des Dienstes',
  uploaded: id => `Hochgeladen als ${id}`,
};

/** The pages of persons. */
export const people: typeof en.people = {
  total: count => s(count, 'Person', 'Personen'),
  empty: 'Keine Person passt.',
  column: { groups: 'Gruppen', source: 'Quelle', devices: 'Geräte', left: 'Ausgeschieden' },
  sources: { local: 'dieses Register', scim: 'Identitätsanbieter', directory: 'Verzeichnis' },
  state: { active: 'aktiv', left: 'ausgeschieden' },
  filter: { keyword: 'Name, E-Mail oder ID', source: 'Quelle', active: 'Zustand', all: 'alle' },
  optional: { name: 'Name (optional)', email: 'E-Mail (optional)' },
  action: { create: 'Person hinzufügen', leave: 'Scheidet aus', back: 'Zurückholen' },
  of: { leave: name => `${name} scheidet aus`, back: name => `${name} zurückholen` },
  ask: {
    back: 'Die Person kann wieder Geräte bekommen. Nichts wird von selbst entsperrt, und das Konto bleibt gesperrt: Die Seite der Person nennt die gesperrten Schlüssel.',
  },
  done: {
    create: name => `${name} wurde hinzugefügt.`,
    back: name => `${name} ist zurück.`,
  },
  leavers: { lock: 'gesperrt', retire: 'endgültig stillgelegt' },
  will: (count, what, hours) =>
    count === 0
      ? 'Kein Gerät dieser Person ist aktiv.'
      : `${s(count, 'aktives Gerät', 'aktive Geräte')}, ${what} ${hours === 0 ? 'sofort' : `nach ${s(hours, 'Stunde', 'Stunden')}`}:`,
  account: 'Das Konto mit demselben Benutzernamen wird gesperrt. Die Person bekommt keine weiteren Geräte.',
  reason: 'Grund',
  gone: (name, count) => `${name} ist ausgeschieden: ${s(count, 'Gerät', 'Geräte')} gesperrt oder stillgelegt.`,
  due: (name, at) => `${name} ist ausgeschieden. Die Geräte folgen um ${at}.`,
  heldBack: count =>
    `Die Person ist ausgeschieden, aber ${s(count, 'Gerät bleibt', 'Geräte bleiben')} aktiv: Zu viele Geräte würden innerhalb von zehn Minuten gesperrt. Diese warten auf der Seite Personen auf eine Freigabe.`,
  back: 'Alle Personen',
  externalId: 'ID bei der Quelle',
  personId: 'ID',
  keys: 'Schlüssel',
  noKeys: 'An diese Person ist kein Schlüssel gebunden.',
  history: 'Was mit den Schlüsseln geschah',
  newestKeys: count => `Von den ${count} zuletzt registrierten Schlüsseln.`,
  locked: {
    title: 'Gesperrte Schlüssel',
    hint: 'Nichts wird von selbst entsperrt. Entsperren Sie, was diese Person behält.',
  },
  held: {
    title: 'Zurückgehaltene Sperren',
    hint: 'Zu viele Geräte wären innerhalb von zehn Minuten gesperrt worden. Sie bleiben aktiv, bis Sie sie freigeben. Sind die Personen nicht ausgeschieden, berichtigen Sie stattdessen die Quelle.',
    column: { since: 'Zurückgehalten', devices: 'Aktive Geräte' },
    action: { release: 'Freigeben' },
    all: 'Alle freigeben',
    question: 'Diese Geräte werden gesperrt oder, wenn die Richtlinie es verlangt, stillgelegt:',
    none: 'Diese Personen werden nicht mehr zurückgehalten.',
    submit: count => `${s(count, 'Gerät', 'Geräte')} sperren`,
    locked: count => `${s(count, 'Gerät', 'Geräte')} gesperrt oder stillgelegt.`,
  },
};

/** The page Users. */
export const users: typeof en.users = {
  total: count => `${grouped(count)} Benutzer`,
  column: { key: 'Sicherheitsschlüssel', since: 'Angelegt' },
  key: { yes: 'registriert', no: 'keiner' },
  back: 'Alle Benutzer',
  state: { enabled: 'aktiv', disabled: 'gesperrt', removed: 'entfernt' },
  you: 'Sie',
  action: {
    create: 'Benutzer anlegen',
    edit: 'Bearbeiten',
    password: 'Passwort',
    logout: 'Abmelden',
    disable: 'Sperren',
    enable: 'Entsperren',
    remove: 'Entfernen',
  },
  of: { password: name => `Passwort von ${name}` },
  ask: {
    logout:
      'Alle Sitzungen dieses Benutzers enden sofort, auf jedem Rechner. Das Passwort bleibt unverändert. Diensttoken sind nicht betroffen.',
    disable:
      'Der Benutzer kann sich nicht mehr anmelden, und alle Sitzungen enden sofort. Was er getan hat, bleibt im Prüfprotokoll. Sie können ihn wieder entsperren.',
    enable: 'Der Benutzer kann sich wieder mit demselben Passwort anmelden.',
    remove:
      'Der Benutzer kann sich nicht mehr anmelden, alle Sitzungen enden sofort, und die E-Mail-Adresse wird gelöscht. Der Name bleibt vergeben, und was er getan hat, bleibt im Prüfprotokoll. Entsperren macht es rückgängig.',
  },
  lost: {
    title: 'Wenn die Person einen Schlüssel verloren hat',
    remove: 'Entfernen Sie oben den verlorenen Schlüssel. Von da an wird er abgelehnt.',
    logout: 'Melden Sie den Benutzer oben ab: Sitzungen, die mit dem Schlüssel begonnen haben, würden weiterlaufen.',
    other:
      'Die Person meldet sich mit einem anderen dieser Schlüssel an und registriert im Menü ihres Namens einen neuen.',
    password:
      'Setzen Sie oben ein neues Passwort, und geben Sie es der Person selbst: Es ist kein Schlüssel übrig, und wer als Erster das Passwort kennt, registriert den nächsten.',
    register:
      'Die Person meldet sich mit dem neuen Passwort an, registriert einen neuen Schlüssel und meldet sich mit beidem an.',
    alone: 'Die Person meldet sich mit dem Passwort an und registriert im Menü ihres Namens einen neuen Schlüssel.',
  },
  own: 'Auch diese Sitzung endet: Melden Sie sich danach erneut an.',
  ownRole: 'Ihre eigene Rolle können Sie hier nicht ändern. Ein anderer Administrator kann es.',
  usernameShape: 'ASCII-Buchstaben, Ziffern und - _ . @',
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
    remove: name => `${name} ist entfernt.`,
  },
};

export const policies: typeof en.policies = {
  proof: {
    title: 'Was ein Schlüssel nachweisen muss',
    hint: 'Ein Schlüssel, der das nicht nachweist, wird nicht registriert. Registrierte Geräte bleiben registriert.',
    requiredGrade: 'Mindestens nachgewiesen',
    grade: {
      none: 'Kein Nachweis verlangt',
      claimed: 'Was der Schlüssel über sich meldet',
      model: 'Das Modell',
      unit: 'Das Modell und die Seriennummer',
    },
    allowedAaguids: 'Zugelassene Modelle (AAGUIDs)',
    aaguidsHint: 'Eine je Zeile; leer: jedes Modell. Nur FIDO weist eine AAGUID nach.',
    leastFirmware: 'Älteste Firmware',
    firmwareHint:
      'Eine Regel je Zeile: 5.7.0 für alle Schlüssel, YubiKey=5.7.0 für Modelle, deren Name so beginnt, oder eine AAGUID an dieser Stelle. Nur SCP11b weist die Firmware nach.',
    any: 'beliebig',
    wrongLine: line => `Diese Zeile ist ungültig: ${line}`,
    preview: 'Vorschau',
    previewTitle: 'Was die Richtlinie ablehnen würde',
    previewHint: days =>
      `Gezählt, als würde jedes Gerät mit dem Nachweis, den es hat, noch einmal registriert: alle Geräte, und die in den letzten ${days} Tagen registrierten.`,
    rule: 'Abgelehnt wegen',
    all: 'Alle Geräte',
    recent: days => `Letzte ${days} Tage`,
    rules: {
      grade: 'schwächerer Nachweis',
      aaguid: 'anderes oder kein nachgewiesenes Modell',
      together: 'eines von beiden',
    },
    notCounted: {
      aaguids: 'Nicht gezählt: die zugelassenen Modelle. Mehr als 20 wären zu viele Anfragen.',
      firmware:
        'Nicht gezählt: die älteste Firmware. Das Register kann Geräte nicht nach nachgewiesener Firmware auflisten.',
    },
    set: 'Richtlinie setzen',
  },
  signIn: {
    title: 'Wer sich mit einem Sicherheitsschlüssel anmelden muss',
    hint: 'Benutzer dieser Rollen melden sich nach dem Passwort mit einem Schlüssel an. Wer keinen hat, kann nur einen registrieren. Verlangen Sie Schlüssel von einer Rolle, nachdem ihre Benutzer sie registriert haben.',
    roles: 'Rollen',
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
    users: count => `${grouped(count)} ${count === 1 ? 'aktiver' : 'aktive'} Benutzer mit dieser Rolle.`,
    without: count => (count ? `${grouped(count)} ohne Schlüssel:` : 'Alle haben einen Schlüssel.'),
    more: count => `und ${grouped(count)} weitere`,
    sitesUnknown: 'Nicht bekannt: ob jeder Schlüssel für die Adresse gilt, unter der sich sein Benutzer anmeldet.',
    ownUnknown:
      'Nicht gezählt: Benutzer, von denen außer der Richtlinie ein Schlüssel verlangt wird. Sie brauchen ihn weiter.',
  },
  directory: {
    title: 'Verzeichnis der Personen',
    hint: 'Daraus werden Personen gelesen. Wer dort deaktiviert oder entfernt ist, scheidet aus: Die Geräte werden gesperrt.',
    off: 'Kein Verzeichnis ist eingerichtet. Auf der Befehlszeile:',
    address: 'Adresse',
    times: 'Wird gelesen',
    every: (some, all) => `alle ${grouped(some)} min, alle Einträge alle ${grouped(all)} min`,
    last: 'Letzter Lauf',
    none: 'keiner',
    found: 'Ergebnis',
    read: count => `${s(count, 'Eintrag', 'Einträge')} gelesen`,
    preview: 'Vorschau eines Laufs',
    submit: 'Jetzt lesen',
    column: { step: 'Was', person: 'Person', detail: 'Einzelheit' },
    step: {
      new: 'neu',
      changed: 'geändert',
      left: 'scheidet aus',
      held: 'scheidet aus, zurückgehalten',
      back: 'zurück',
      skipped: 'ausgelassen',
    },
    steps: {
      new: 'neu',
      changed: 'geändert',
      left: 'ausgeschieden',
      held: 'zurückgehalten',
      back: 'zurück',
      skipped: 'ausgelassen',
    },
  },
};

export const trust: typeof en.trust = {
  hint: 'Danach werden Schlüssel beurteilt: nach den Metadaten der FIDO-Allianz und Zertifikaten von Herstellern. devmgr enthält keine und lädt keine herunter.',
  total: count => `${grouped(count)} ${count === 1 ? 'Eintrag' : 'Einträge'}`,
  empty:
    'Noch gilt nichts als vertrauenswürdig: Kein Schlüssel kann etwas nachweisen. Importieren Sie die Metadaten der FIDO-Allianz oder die Zertifikate eines Herstellers.',
  column: { kind: 'Art', vouches: 'Bürgt für', until: 'Gültig bis', fingerprint: 'SHA-256', by: 'Importiert von' },
  action: { create: 'Importieren', remove: 'Entfernen' },
  ask: {
    remove:
      'Von jetzt an weist es nichts mehr nach. Vorhandene Nachweise bleiben, wie sie sind, bis neu beurteilt wird.',
  },
  done: { remove: name => `${name} gilt nicht mehr. Beurteilen Sie neu, damit die Nachweise folgen.` },
  kind: { anchor: 'Wurzel', intermediate: 'Zwischenzertifikat', metadata: 'FIDO-Metadaten' },
  purpose: { scp11b: 'sichere Kanäle (SCP11b)', fido: 'FIDO-Schlüssel' },
  chains: purpose => `allein für nichts: vervollständigt Ketten von ${purpose}`,
  u2f: 'U2F-Schlüssel',
  metadata: number => `FIDO-Metadaten ${number}`,
  models: count => `${grouped(count)} ${count === 1 ? 'Modell' : 'Modelle'}`,
  file: 'FIDO-Metadaten (BLOB) oder Zertifikate in PEM oder DER',
  purposeHint: 'Für Zertifikate. Die Metadaten nennen ihre Modelle selbst.',
  aaguids: 'Modelle (AAGUIDs)',
  aaguidsHint: 'Eine je Zeile; leer: U2F-Schlüssel.',
  label: 'Name, etwa der Hersteller (optional)',
  imported: 'Importiert',
  compare: 'Vergleichen Sie den SHA-256-Wert mit dem, den der Hersteller veröffentlicht:',
  judge: {
    title: 'Neu beurteilen',
    hint: 'Alle gespeicherten Antworten von Schlüsseln werden nach dem beurteilt, was jetzt gilt. Jeder geänderte Nachweis steht im Prüfprotokoll.',
    progress: count => `${grouped(count)} ${count === 1 ? 'Gerät' : 'Geräte'} beurteilt …`,
    done: (judged, changed) =>
      `${grouped(judged)} ${judged === 1 ? 'Gerät' : 'Geräte'} beurteilt, ${grouped(changed)} ${changed === 1 ? 'Nachweis' : 'Nachweise'} geändert.`,
    next: 'Vorhandene Nachweise bleiben, wie sie sind, bis neu beurteilt wird.',
  },
};

/** The page Tokens. */
export const tokens: typeof en.tokens = {
  title: 'Diensttoken',
  hint: 'Ein Diensttoken ist für ein Programm, das sonst das Passwort einer Person bräuchte.',
  total: count => `${grouped(count)} Token`,
  empty: 'Noch wurde kein Token angelegt.',
  column: { may: 'Rechte', expires: 'Läuft ab', networks: 'Angenommen aus' },
  action: { create: 'Token anlegen', revoke: 'Widerrufen' },
  state: { valid: 'gültig', expired: 'abgelaufen', revoked: 'widerrufen' },
  anywhere: 'jedem Netz',
  permissions: 'Rechte neben der Rolle',
  permission: { webhooks: 'Webhooks', policies: 'Richtlinien', scim: 'SCIM (Personen eines Identitätsanbieters)' },
  nothing: 'keine',
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

/** The page Webhooks. */
export const webhooks: typeof en.webhooks = {
  hint: 'Jedes Ereignis des Registers wird an diese Adressen gesendet, der Reihe nach und signiert.',
  total: count => `${grouped(count)} ${count === 1 ? 'Webhook' : 'Webhooks'}`,
  empty: 'Noch wurde kein Webhook angelegt.',
  column: { url: 'Adresse', types: 'Ereignisse', waiting: 'Wartend', delivered: 'Zuletzt zugestellt' },
  action: {
    create: 'Webhook anlegen',
    deliveries: 'Zustellungen',
    test: 'Testen',
    disable: 'Abschalten',
    enable: 'Einschalten',
    remove: 'Entfernen',
  },
  of: { deliveries: url => `Zustellungen an ${url}` },
  ask: {
    test: 'Eine signierte Nachricht der Art WEBHOOK_TEST wird einmal gesendet.',
    disable: 'Bis zum Einschalten wird nichts gesendet. Ereignisse in dieser Zeit warten.',
    enable: 'Das Ereignis nach dem zuletzt zugestellten wird sofort gesendet, dann die späteren.',
    remove:
      'Geheimnis und Liste der Zustellungen werden gelöscht, wartende Ereignisse nicht gesendet. Das ist endgültig.',
  },
  done: {
    create: url => `${url} ist angelegt.`,
    disable: url => `${url} ist abgeschaltet.`,
    enable: url => `${url} ist eingeschaltet.`,
    remove: url => `${url} ist entfernt.`,
  },
  taken: (url, milliseconds) => `${url} hat die Nachricht in ${grouped(milliseconds)} ms angenommen.`,
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
  attempt: {
    title: 'Zustellungen',
    column: { event: 'Ereignis', attempt: 'Versuch' },
    action: { replay: 'Erneut senden' },
    of: { replay: event => `Erneut senden: Ereignis ${event}` },
  },
  delivered: 'zugestellt',
  failed: 'fehlgeschlagen',
};

/** The page Providers. */
export const providers: typeof en.providers = {
  hint: 'Bei diesen Anbietern werden Schlüssel für ihre Personen angemeldet. Anmeldungen gesperrter und stillgelegter Schlüssel werden dort entfernt.',
  total: count => `${grouped(count)} Anbieter`,
  empty: 'Noch wurde kein Anbieter hinzugefügt.',
  column: { at: 'Mandant oder Adresse', credentials: 'Anmeldungen', pending: 'Zu entfernen' },
  type: { entra: 'Microsoft Entra ID', okta: 'Okta', webauthn: 'WebAuthn-Server', devmgr: 'Konten dieses Registers' },
  state: fails => (fails ? 'scheitert' : 'kein Problem'),
  action: { create: 'Anbieter hinzufügen', test: 'Testen', reconcile: 'Vergleichen', remove: 'Entfernen' },
  of: { reconcile: name => `Mit ${name} vergleichen` },
  ask: {
    test: 'Der Anbieter wird nach etwas Harmlosem gefragt: ob er antwortet und das Geheimnis annimmt.',
    remove: 'Sein Geheimnis wird gelöscht. Das ist nicht möglich, solange Schlüssel dort angemeldet sind.',
  },
  done: {
    create: name => `${name} ist hinzugefügt. Testen Sie ihn, bevor Sie Schlüssel ausgeben.`,
    remove: name => `${name} ist entfernt.`,
  },
  accepts: name => `${name} nimmt Anfragen dieses Registers an.`,
  fails: (name, problem) => `${name} arbeitet nicht: ${problem}`,
  nameHint: 'Befehle benutzen ihn: devmgr keys issue --for NAME',
  address: {
    entra: 'Microsoft Graph einer nationalen Cloud',
    okta: 'Adresse der Organisation, https://…',
    webauthn: 'Adresse für Optionen, https://…',
    devmgr: 'Adresse dieser Konsole, https://…',
  },
  setting: {
    tenant: 'Mandant: Id oder Domain',
    clientId: 'Anwendungs-Id (Client)',
    loginAddress: 'Anmeldung einer nationalen Cloud',
    finishAddress: 'Adresse für die Antwort des Schlüssels, https://…',
    removeAddress: 'Adresse für das Entfernen, https://…',
  },
  secret: { entra: 'Client-Geheimnis', okta: 'API-Token', webauthn: 'Bearer-Token' },
  repair: 'Reparieren',
  agree: 'Register und Anbieter stimmen überein.',
  differing: { credential: 'Anmeldung', of: 'Gerät oder Konto', difference: 'Unterschied' },
  difference: {
    onlyHere: 'fehlt beim Anbieter: gilt dann als entfernt',
    other: 'meldet eine andere Person an: wird dort entfernt',
    onlyThere: 'nur beim Anbieter: wird dort entfernt',
    stays: 'nur beim Anbieter, von keinem Register angelegt: bleibt',
  },
  repairs: count => `Reparieren ändert ${s(count, 'Anmeldung', 'Anmeldungen')}.`,
  repaired: (count, name) => `${s(count, 'Anmeldung', 'Anmeldungen')} bei ${name} repariert.`,
};

/** Credentials of a device at providers. */
export const credentials: typeof en.credentials = {
  title: 'Anmeldung bei Anbietern',
  none: 'Dieser Schlüssel ist bei keinem Anbieter angemeldet. Stecken Sie ihn ein, und starten Sie devmgr keys issue.',
  column: { credential: 'Anmeldung', provider: 'Anbieter', made: 'Ausgegeben' },
  state: { valid: 'gültig', unfinished: 'nicht abgeschlossen', pending: 'noch zu entfernen', removed: 'entfernt' },
  action: { remove: 'Entfernen' },
  ask: {
    remove:
      'Die Person kann sich beim Anbieter nicht mehr mit diesem Schlüssel anmelden. Danach muss er neu ausgegeben werden.',
  },
  done: { remove: name => `${name} ist beim Anbieter entfernt.` },
};

export const bench: typeof en.bench = {
  intro: 'Person, Schlüssel, abziehen: Der Schlüssel wird registriert und für die Person aktiviert.',
  sound: 'Ton',
  notAllowed:
    'Ihre Rolle erlaubt das Ansehen, nicht die Ausgabe von Schlüsseln. Ein Administrator kann Ihnen die Rolle Händler geben.',
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
    readyToIssue: person =>
      `Drücken Sie Enter: Der Schlüssel wird an ${person} gebunden und ausgegeben. Lassen Sie ihn eingesteckt. Esc nimmt zurück.`,
    ready: person =>
      `Ziehen Sie den Schlüssel ab, oder drücken Sie Enter: Er wird an ${person} gebunden. Esc nimmt zurück.`,
    fail: 'FEHLER',
    still: person => `Nichts wurde gebunden. ${person} braucht noch einen Schlüssel.`,
    committing: 'Wird gebunden …',
    issuing: 'Der Schlüssel wird ausgegeben … Lassen Sie ihn eingesteckt. Wenn er blinkt, berühren Sie ihn.',
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
    'not issued': 'Er ist zugeordnet, meldet aber noch nicht bei jedem Anbieter an. Stecken Sie ihn wieder ein.',
    'not signed': 'Er ist zugeordnet, hat aber seinen Beleg noch nicht signiert. Stecken Sie ihn wieder ein.',
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
    bound: 'gebunden',
    signsIn: providers => `Meldet an bei: ${providers}.`,
    download: 'Als CSV herunterladen',
    clear: 'Ergebnisse löschen',
  },
};

export const benchIssue: typeof en.benchIssue = {
  title: 'Schlüssel ausgeben',
  hint: 'Nach dem Binden erhält der Schlüssel bei jedem hier gewählten Anbieter eine Anmeldung für seine Person. Bis dahin bleibt er eingesteckt.',
  providers: 'Anbieter',
  pin: 'PIN',
  pins: { ask: 'Ein Schlüssel ohne PIN erhält eine', none: 'Ein Schlüssel ohne PIN bleibt ohne PIN' },
  pinOf: key => `PIN von ${key}`,
  newPin: key => `Erste PIN von ${key}`,
  left: count => `Verbleibende Versuche: ${grouped(count)}`,
  none: 'Dieser Schlüssel hat noch keine PIN. Das Register speichert sie nicht.',
  again: 'Dieselbe PIN noch einmal',
  differs: 'Die beiden PINs sind verschieden.',
  use: 'Diese PIN verwenden',
  unplugged: 'Der Schlüssel wurde abgezogen.',
  noPin: 'Es wurde keine PIN eingegeben.',
  problem: {
    unknown: 'Der Schlüssel hat nicht wie erwartet geantwortet.',
    'pin-replug': 'Der Schlüssel nimmt keine PIN an, bis er neu eingesteckt wird.',
    'pin-blocked': 'Die PIN des Schlüssels ist gesperrt: Nur ein Zurücksetzen gibt ihn frei.',
    'pin-change': 'Die Person muss zuerst die PIN ändern.',
    'pin-present': 'Der Schlüssel hat schon eine PIN.',
    'pin-unfit': 'Der Schlüssel nimmt diese PIN nicht an.',
  },
  unfit: {
    short: least => `Die PIN dieses Schlüssels hat mindestens ${grouped(least)} Zeichen.`,
    long: most => `Eine PIN hat höchstens ${grouped(most)} Byte.`,
  },
  refusal: {
    excluded: 'Der Schlüssel hat beim Anbieter schon eine Anmeldung dieser Person: Entfernen Sie sie dort.',
    full: 'Der Schlüssel hat keinen Platz für eine weitere Anmeldung: Entfernen Sie eine, oder nehmen Sie einen anderen.',
    'no-credential': 'Der Schlüssel hat diese Anmeldung nicht.',
    'not-allowed': 'Der Schlüssel lässt das jetzt nicht zu.',
    'pin-blocked': 'Die PIN des Schlüssels ist gesperrt: Nur ein Zurücksetzen gibt ihn frei.',
    'pin-invalid': 'Die PIN ist falsch. Mit jeder falschen wird der Schlüssel eher gesperrt.',
    'pin-not-set': 'Der Anbieter verlangt eine PIN, und der Schlüssel hat keine.',
    'pin-policy': 'Der Schlüssel nimmt diese PIN nicht an.',
    'pin-replug': 'Der Schlüssel nimmt keine PIN an, bis er neu eingesteckt wird.',
    'pin-required': 'Der Schlüssel verlangt seine PIN.',
  },
  failure: {
    unavailable: 'Der Schlüssel kann das nicht.',
    'no-permission': 'Der Dienst darf den Schlüssel nicht öffnen.',
    removed: 'Der Schlüssel wurde abgezogen.',
    busy: 'Der Schlüssel wird gerade verwendet.',
    mute: 'Der Schlüssel antwortet nicht.',
    timeout: 'Der Schlüssel hat nicht rechtzeitig geantwortet oder wurde nicht berührt.',
    aborted: 'Es wurde abgebrochen.',
    protocol: 'Der Schlüssel hat nicht wie erwartet geantwortet.',
  },
};

/** Why a file is not a roster. */
export const rosterFaults: typeof en.rosterFaults = {
  /** What is wrong with the file, or with the line that it names. */
  of: {
    'column twice': ({ column }) => `zwei Spalten für ${column}`,
    'column missing': 'die Spalte userId fehlt',
    cells: ({ expected, found }) =>
      `sie hat ${found} Zellen, die Kopfzeile ${expected}: Enthält eine Zelle ein Komma ohne Anführungszeichen?`,
    userId: ({ text }) => (text === '' ? 'userId ist leer' : `${text} ist keine gültige userId`),
    name: `name hat mehr als ${rosterBounds.name} Zeichen`,
    type: 'type muss UKEY oder SIMKEY sein',
    count: `count muss eine ganze Zahl von 1 bis ${rosterBounds.keys} sein`,
    'person twice': ({ earlier, userId }) => `${userId} steht schon in Zeile ${earlier}`,
    lines: () => `eine Liste hat höchstens ${grouped(rosterBounds.lines)} Zeilen`,
    'open quote': 'ein Anführungszeichen wird nicht geschlossen',
    'text after quote': 'auf ein schließendes Anführungszeichen folgt Text',
    encoding: ({ encoding }) =>
      `kein gültiges ${encoding.toUpperCase()}. Speichern Sie die Datei als UTF-8 (in Excel: CSV UTF-8), oder wählen Sie ihre Kodierung.`,
    empty: 'Die Datei enthält keine Personen.',
    'too large': 'Die Datei ist zu groß für eine Liste von Personen.',
    unreadable: 'Die Datei ist nicht lesbar.',
  },
  line: (line, problem) => `Zeile ${grouped(line)}: ${problem}`,
  encoding: 'Kodierung der Datei',
  readAgain: 'Datei erneut lesen',
};

/** The search over everything, and the list of keys. */
export const palette: typeof en.palette = {
  title: 'Finden',
  hint: 'ID, Seriennummer, Person, Merkmal, Seite oder Befehl',
  none: 'Kein Gerät hat dies in ID oder Seriennummer.',
  target: action => `${action}: welches Gerät? ID, Seriennummer oder Benutzer`,
  group: { recent: 'Zuletzt gewählt', persons: 'Personen', lists: 'Listen', commands: 'Befehle' },
  containing: part => `Geräte mit „${part}“ in ID oder Seriennummer`,
  ofUser: name => `Geräte des Benutzers ${name}`,
  withTag: tag => `Geräte mit dem Merkmal ${tag}`,
  keys: 'Tasten',
  list: modifier => [
    [`${modifier.replace('Ctrl', 'Strg')}K  /`, 'Gerät, Person, Merkmal, Seite oder Befehl finden'],
    ['?', 'Diese Liste'],
    ['j  k', 'Nächstes und voriges Gerät der Liste'],
    ['x', 'Gerät auswählen'],
    ['Enter', 'Gerät öffnen'],
    ['Alt T', 'Zu den Meldungen am Rand des Fensters'],
    ['Esc', 'Schließen, was im Vordergrund ist'],
  ],
};
