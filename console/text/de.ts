/** The words of the console in German. */
import { Code, type ErrorCode } from '../../src/contract/codes.ts';
import { statisticsRange } from '../../src/contract/values.ts';
import { rosterBounds } from '../../src/enrollment/line/roster.ts';
import type * as en from './en.ts';
import { duration, grouped, plural, counted as s, twoDigits } from './numbers.ts';

/** The refusals of the daemon by code. */
const refusals: Readonly<Record<ErrorCode, string>> = {
  1001: 'Der Dienst nimmt eine Angabe nicht an, oder der Zustand erlaubt das nicht',
  1002: 'Dieses Konto gibt es nicht.',
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
  404: 'Der Eintrag existiert nicht oder wurde inzwischen entfernt.',
  412: 'Das Gerät wurde inzwischen geändert.',
  416: 'Diesen Teil der Datei gibt es nicht.',
  429: 'Zu viele Anfragen. Versuchen Sie es später erneut.',
  500: 'Interner Fehler. Das Protokoll des Dienstes nennt Einzelheiten unter der Nummer der Anfrage.',
};

/** The field or device that the daemon names, which comes first; else its words. */
const subjectOf = (message: string): string =>
  /^(?!(?:the|an?|this|you|send) )([\w.[\]-]+)(?=:? )/.exec(message)?.[1] ?? message;

const weekdays = ['So', 'Mo', 'Di', 'Mi', 'Do', 'Fr', 'Sa'];

/** Each unit, and several of it, after `vor` and `in`. */
const timeUnits = {
  year: ['Jahr', 'Jahren'],
  month: ['Monat', 'Monaten'],
  day: ['Tag', 'Tagen'],
  hour: ['Stunde', 'Stunden'],
  minute: ['Minute', 'Minuten'],
} as const;

/** Words of every page. */
export const common: typeof en.common = {
  nav: {
    label: 'Seiten',
    skip: 'Zum Inhalt',
    find: 'Suchen',
    control: 'Strg',
    group: { devices: 'Geräte', line: 'Linie', administration: 'Verwaltung' },
    overview: 'Übersicht',
    devices: 'Geräte',
    station: 'Arbeitsplatz',
    activity: 'Verlauf',
    lots: 'Lose',
    stations: 'Stationen',
    cleanup: 'Aufräumen',
    packages: 'Pakete',
    people: 'Personen',
    users: 'Konten',
    tokens: 'Token',
    policies: 'Richtlinien',
    trust: 'Vertrauen',
    webhooks: 'Webhooks',
    providers: 'Anbieter',
    cases: 'Offene Fälle',
    import: 'Geräte importieren',
    health: 'Zustand',
    account: 'Konto',
    terminal: 'Ein Terminal anmelden',
    me: 'Meine Schlüssel',
  },
  stream: {
    connecting: 'wird verbunden …',
    live: 'aktuell',
    lost: 'Verbindung unterbrochen: Die Anzeige kann veraltet sein. Die Verbindung wird wiederhergestellt …',
  },
  problem: {
    title: 'Ein Fehler ist aufgetreten',
    noAnswer: 'Der Dienst antwortet nicht. Prüfen Sie, ob er läuft, und versuchen Sie es erneut.',
    limited: seconds => `Zu viele Anfragen. Nächster Versuch in ${s(seconds, 'Sekunde', 'Sekunden')}.`,
    refusal: (code: ErrorCode, message: string): string =>
      code === Code.parameterError ? `${refusals[code]}: ${subjectOf(message)}` : refusals[code],
    original: 'Meldung des Dienstes (englisch)',
    requestId: id => `Anfrage ${id}`,
    retry: 'Erneut versuchen',
    keyKnown: 'Dieser Schlüssel ist schon registriert.',
    noKey:
      'Es wurde kein Sicherheitsschlüssel benutzt. Der Vorgang wurde abgebrochen, die Zeit ist abgelaufen, oder kein Schlüssel passt. Versuchen Sie es erneut.',
    keyAddress:
      'Sie müssen sich mit einem Sicherheitsschlüssel anmelden, aber unter dieser Adresse unterstützen Browser keine. Öffnen Sie die Konsole über HTTPS oder auf localhost.',
    atLocalhost: 'Sicherheitsschlüssel auf localhost verwenden',
    notLoaded:
      'Dieser Teil der Konsole konnte nicht geladen werden. Er wird geladen, sobald die Verbindung wieder besteht.',
    crashed: 'Diese Seite ist abgestürzt. Laden Sie sie neu; das Register ist nicht betroffen.',
  },
  common: {
    cancel: 'Abbrechen',
    close: 'Schließen',
    save: 'Speichern',
    loading: 'Wird geladen …',
    updating: 'Wird aktualisiert …',
    none: 'Keine',
    unknownPage: 'Diese Seite gibt es nicht.',
    unknownRecord: 'Diesen Eintrag gibt es nicht, oder er wurde entfernt.',
    never: 'nie',
    peek: 'Neben der Liste anzeigen',
    deviceCount: 'Geräte',
    filters: 'Filter',
    columns: 'Spalten',
    order: 'Reihenfolge',
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
    devices: (count: number) => s(count, 'Gerät', 'Geräte'),
    stillLocked: (devices: string) => `noch gesperrte Geräte: ${devices}`,
    times: (count: number) => `${grouped(count)}-mal`,
    distance(count, unit) {
      if (count === 0) return 'jetzt';
      const [one, many] = timeUnits[unit];
      const length = Math.abs(count);
      return `${count < 0 ? 'vor' : 'in'} ${s(length, one, many)}`;
    },
    day(iso) {
      const date = new Date(iso);
      return `${twoDigits(date.getDate())}.${twoDigits(date.getMonth() + 1)}.${date.getFullYear()}`;
    },
    hour(iso) {
      const time = new Date(iso);
      return `${weekdays[time.getDay()]}., ${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`;
    },
    noEvents: 'Noch keine Ereignisse.',
    page: (page, pages) => `Seite ${grouped(page)} von ${grouped(pages)}`,
  },
  column: {
    device: 'Gerät',
    serial: 'Seriennummer',
    type: 'Art',
    manufacturer: 'Hersteller',
    model: 'Modell',
    state: 'Zustand',
    user: 'Person',
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
    reason: 'Grund',
  },
  role: { ADMIN: 'Administrator', DEALER: 'Händler', VIEWER: 'Leser', HOLDER: 'Inhaber' },
  menu: {
    keys: 'Passwort und Sicherheitsschlüssel',
    signOut: 'Abmelden',
    theme: 'Farben',
    light: 'Hell',
    dark: 'Dunkel',
    system: 'Wie das System',
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
    PERSON_HELD: 'Sperren zurückgehalten: Geräte warten auf eine Freigabe',
    PERSON_RETURNED: 'Person ist zurück',
    PROVISIONING_REFUSED: 'eine Meldung über Personen wurde nicht wie gesendet gespeichert',
    RECEIPT_SIGNED: 'Beleg signiert',
    LOAN_OVERDUE: 'Leihe ist überfällig',
    DEVICE_IDENTITY: 'Credential des Schlüssels gebunden, nachgewiesen oder verloren',
    CASE_OPENED: 'Fall eines Ausgeschiedenen eröffnet',
    CASE_OVERDUE: 'Fall eines Ausgeschiedenen hat einen überfälligen Posten',
    PEOPLE_CHECKED: 'Zahlen der ständigen Prüfung haben sich geändert',
    CASE_CLOSED: 'Fall eines Ausgeschiedenen beendet',
    DEVICE_SHIPPED: 'an die Person verschickt',
    DEVICE_LOST: 'von der Person als verloren gemeldet',
    SHIPMENT_OVERDUE: 'Ankunft ist nicht bestätigt',
    USER_CREATED: 'Konto angelegt',
    USER_UPDATED: 'Konto geändert',
    USER_PASSWORD_CHANGED: 'Passwort geändert',
    USER_LOGGED_OUT: 'alle Sitzungen beendet',
    USER_REGISTRATION_ALLOWED: 'darf einen Anmeldeschlüssel registrieren',
    USER_KEY_ADDED: 'Anmeldeschlüssel registriert',
    USER_KEY_REMOVED: 'Anmeldeschlüssel entfernt',
    TOKEN_CREATED: 'Diensttoken angelegt',
    TOKEN_REVOKED: 'Diensttoken widerrufen',
    TOKEN_ADOPTED: 'Diensttoken hat einen neuen Eigentümer',
    POLICY_SET: 'Richtlinie gesetzt',
    WEBHOOK_CREATED: 'Webhook angelegt',
    WEBHOOK_ENABLED: 'Webhook eingeschaltet',
    WEBHOOK_DISABLED: 'Webhook ausgeschaltet',
    WEBHOOK_REMOVED: 'Webhook entfernt',
    PROVIDER_ADDED: 'Anbieter hinzugefügt',
    PROVIDER_SECRET_SET: 'Geheimnis des Anbieters ersetzt',
    PROVIDER_REMOVED: 'Anbieter entfernt',
    SSO_SET: 'Single Sign-on eingestellt',
    SSO_ACCOUNT_LINKED: 'Konto mit einer Person beim Anbieter verknüpft',
    SSO_SESSION_ENDED: 'Sitzungen beim Anbieter beendet',
    SSO_SESSIONS_ENDED: 'alle Sitzungen des Single Sign-on beendet',
    DIRECTORY_SET: 'Verzeichnis eingestellt',
    PERSON_ADDED: 'Person hinzugefügt',
    PERSON_UPDATED: 'Person geändert',
    PERSON_ERASED: 'Person gelöscht',
    PERSON_GROUPS_SET: 'Gruppen von Personen geändert',
    SETTINGS_SET: 'Einstellung geändert',
    SETTINGS_REMOVED: 'Einstellung entfernt',
    KEY_ATTACHED: 'eingesteckt',
    KEY_DETACHED: 'abgezogen',
  },
  history: { title: 'Verlauf', older: 'Ältere Ereignisse', begin: 'Keine älteren Ereignisse.' },
  record: {
    action: { remove: 'Entfernen', test: 'Testen', download: 'Herunterladen' },
    done: { remove: name => `${name} ist entfernt.` },
  },
  who: {
    by: (kind: string) => `von ${kind}`,
    kind: { user: '', token: 'Diensttoken ', daemon: 'Programm ', directory: 'Verzeichnis ', provider: 'Anbieter ' },
    changes: 'Was geändert wurde',
    field: {
      note: 'Bemerkung',
      personId: 'Person',
      issuer: 'Aussteller',
      tags: 'Merkmale',
      firmwareVersion: 'Firmwareversion',
      userId: 'Benutzername',
      username: 'Name',
      disabled: 'Gesperrt',
      enabled: 'Eingeschaltet',
      password: 'Passwort',
      passwordHash: 'Prüfwert des Passworts',
      secret: 'Geheimnis',
      revoked: 'Widerrufen',
      owner: 'Eigentümer',
      until: 'Bis',
      url: 'Adresse',
      requireKey: 'Schlüssel verlangt von',
      personsRequired: 'Personen verlangt',
    },
    value: { true: 'ja', false: 'nein', changed: 'geändert', set: 'gesetzt' },
    about: {
      'sign-in': 'Anmeldung',
      people: 'Personen',
      proof: 'Nachweise',
      pin: 'PINs',
      trust: 'Vertrauen',
      'signing-key': 'Signaturschlüssel der Token',
      'journal-key': 'Schlüssel des Journals',
      restore: 'aus einer Sicherung wiederhergestellt',
      sso: 'Single Sign-on',
    },
  },
  grade: {
    none: 'kein Nachweis',
    claimed: 'nur Angabe',
    model: 'Modell nachgewiesen',
    unit: 'Gerät nachgewiesen',
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
  perHour: 'Registrierungen je Stunde',
  perDay: 'Registrierungen je Tag',
  states: 'Geräte nach Zustand',
  attention: {
    title: 'Handlungsbedarf',
    none: 'Kein Handlungsbedarf.',
    codes: count =>
      plural(
        count,
        `Aktivierungscode, der abgelaufen ist oder innerhalb von ${statisticsRange.dueDays} Tagen abläuft`,
        `Aktivierungscodes, die abgelaufen sind oder innerhalb von ${statisticsRange.dueDays} Tagen ablaufen`,
      ),
    advisory: (count, advisory) =>
      plural(count, `Schlüssel, der von ${advisory} betroffen ist`, `Schlüssel, die von ${advisory} betroffen sind`),
    webhooks: count => plural(count, 'fehlschlagender Webhook', 'fehlschlagende Webhooks'),
    removals: count => plural(count, 'Passkey, den Anbieter noch annehmen', 'Passkeys, die Anbieter noch annehmen'),
    held: count =>
      plural(
        count,
        'ausgeschiedene Person, deren Geräte auf eine Freigabe warten',
        'Ausgeschiedene, deren Geräte auf eine Freigabe warten',
      ),
    shipments: count =>
      plural(count, 'verschickter Schlüssel ohne Bestätigung', 'verschickte Schlüssel ohne Bestätigung'),
    unused: `aktiv, seit ${statisticsRange.unusedDays} Tagen nicht benutzt`,
  },
  by: { manufacturer: 'Hersteller', model: 'Modell', lot: 'Los', site: 'Standort', station: 'Station' },
  types: { UKEY: 'USB-Schlüssel', SIMKEY: 'SIM-Schlüssel' },
  week: 'Gegenüber der Vorwoche:',
  newest: 'Neueste Ereignisse',
  chart: { sum: count => `${grouped(count)} insgesamt`, table: 'Als Tabelle anzeigen', count: 'Registrierungen' },
};

/** Lists of receipts. */
export const receipts: typeof en.receipts = {
  title: 'Belege',
  none: 'Keine Belege.',
  overdue: 'Überfällige Leihen',
  kind: { handover: 'Übergabe', loan: 'Leihe', return: 'Rückgabe' },
  column: { kind: 'Art', device: 'Gerät', person: 'Person', date: 'Datum', due: 'Fällig', receipt: 'Beleg' },
  more: count => `${count} weitere: devmgr receipts list`,
};

/** The page of people with the role HOLDER. */
export const holder: typeof en.holder = {
  none: 'Sie haben keine Schlüssel.',
  fact: { serialNumber: 'Seriennummer', signsInAt: 'Anmeldung bei', shippedAt: 'Verschickt', receivedAt: 'Angekommen' },
  next: {
    none: 'Er funktioniert.',
    receive: 'Er wurde Ihnen geschickt. Wenn Sie ihn haben, bestätigen Sie das mit einer Berührung.',
    help: 'Er ist gesperrt. Wenden Sie sich an den Servicedesk.',
    return: 'Er ist außer Betrieb. Geben Sie ihn zurück.',
  },
  received: 'Ich habe ihn',
  confirmed: device => `Die Ankunft von ${device} ist bestätigt.`,
  elsewhere:
    'Dieser Browser kann den Schlüssel nicht abfragen. Gehen Sie zum Servicedesk: Eine Berührung dort bestätigt, dass Sie ihn haben.',
  lost: 'Ich habe ihn verloren',
  lostTitle: device => `${device} verloren`,
  lostEffect: 'Er wird sofort gesperrt, und kein Anbieter nimmt ihn mehr an. Nur der Servicedesk kann ihn entsperren.',
  reason: 'Was ist passiert?',
  reported: device => `${device} ist gesperrt. Der Servicedesk ist benachrichtigt.`,
  history: 'Verlauf',
};

/** The page Activity. */
export const activity: typeof en.activity = {
  search: { deviceId: 'Gerät', actor: 'Konto oder Programm', from: 'Von (Tag)', to: 'Bis (Tag)' },
  show: 'Anzeigen',
  all: 'Alles',
  kinds: { devices: 'Geräte und Personen', administration: 'Verwaltung' },
  export: 'Als CSV speichern',
  exported: (count, hasMore) =>
    `${s(count, 'Ereignis', 'Ereignisse')} gespeichert${hasMore ? '; wählen Sie Tage, um ältere zu speichern' : ''}.`,
  earlier: 'Frühere Ereignisse',
  whole: 'Das ist das erste Ereignis.',
  field: {
    required: 'Schlüssel verlangt',
    exempt: 'Kein Schlüssel verlangt',
    certificates: 'Zertifikate',
    removed: 'Entfernt',
    restoredTo: 'Wiederhergestellt bis',
  },
};

/** Roles, and what they allow. */
export const roles: typeof en.roles = {
  ADMIN: 'Voller Zugriff.',
  DEALER: 'Verwaltet Geräte und ihre Sicherungen, aber nicht Konten, Token und Pakete.',
  VIEWER: 'Nur Lesen, ohne Aktivierungscodes.',
};

/** Entries for an action on devices. */
export const entries: typeof en.entries = {
  reason: 'Grund',
  note: 'Bemerkung (optional)',
  validityDays: 'Gültigkeit des Codes in Tagen',
  password: 'Passwort eines Administrators',
  byProvider:
    'Sie haben hier kein Passwort: Ihre Anmeldung beim Anbieter gilt als Bestätigung. Ist sie älter als zehn Minuten, melden Sie sich dort noch einmal an.',
  userId: 'Person',
  unknownPerson: 'Wählen Sie eine Person aus der Liste: Keine aktive Person hat diesen Benutzernamen.',
  activationCode: 'Aktivierungscode',
  setTags: 'Merkmale, die gesetzt werden: je Zeile name:wert',
  removeTags: 'Namen der Merkmale, die entfernt werden, durch Leerzeichen getrennt',
  final: 'Ein stillgelegtes Gerät kann nie wieder benutzt werden.',
};

/** Signing in. */
export const signIn: typeof en.signIn = {
  signIn: {
    password: 'Passwort',
    submit: 'Anmelden',
    expired: 'Die Sitzung ist beendet. Melden Sie sich erneut an.',
    code: 'Dieser Link wurde schon benutzt oder ist abgelaufen. Rufen Sie devmgr open erneut auf, oder melden Sie sich an.',
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
    busy: 'Zu viele Anmeldungen beim Anbieter auf einmal. Versuchen Sie es später noch einmal.',
    client: 'Der Anbieter nimmt dieses Register nicht an. Fragen Sie einen Administrator.',
    denied: 'Der Anbieter hat die Anmeldung abgelehnt.',
    disabled: 'Ihr Konto ist hier gesperrt. Fragen Sie einen Administrator.',
    groups: 'Keine Ihrer Gruppen hat Zugriff auf dieses Register. Fragen Sie einen Administrator.',
    key: 'Ihr Konto muss sich mit einem Sicherheitsschlüssel anmelden, aber der Anbieter meldet nicht, dass Sie einen benutzt haben.',
    other:
      'Mit der Rolle, die Ihre Gruppen jetzt haben, können Sie nicht angemeldet werden. Fragen Sie einen Administrator.',
    overage: 'Sie sind in so vielen Gruppen, dass der Anbieter sie nicht mitschickt. Fragen Sie einen Administrator.',
    state:
      'Diese Anmeldung wurde nicht in diesem Browser begonnen, wurde schon benutzt oder hat zu lange gedauert. Versuchen Sie es noch einmal.',
    token: 'Die Antwort des Anbieters ist ungültig. Fragen Sie einen Administrator.',
  },
};

/** Why a button cannot be pressed yet. */
export const approval: typeof en.approval = {
  wait: 'Sie können bestätigen, sobald dieses Fenster eine Sekunde lang im Vordergrund ist.',
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
  invalid: 'Dieser Link ist ungültig',
};

/** The account of the person. */
export const account: typeof en.account = {
  mustRegister:
    'Sie müssen sich mit einem Sicherheitsschlüssel anmelden, haben aber noch keinen. Registrieren Sie einen, und melden Sie sich dann erneut an.',
  title: 'Sicherheitsschlüssel',
  keysHint:
    'Melden Sie sich mit einem Schlüssel statt mit dem Passwort an, oder als zweitem Schritt danach. Ein Schlüssel gilt nur für die Adresse, unter der er registriert wurde.',
  noKeys: 'Sie haben noch keine Sicherheitsschlüssel.',
  noneOfUser: 'Dieses Konto hat keine Sicherheitsschlüssel.',
  password: 'Passwort ändern',
  column: { name: 'Name des Schlüssels', site: 'Gilt für' },
  of: { remove: name => `Schlüssel entfernen: ${name}` },
  ask: { remove: 'Er gilt nicht mehr für die Anmeldung. Um ihn wieder zu benutzen, registrieren Sie ihn neu.' },
  keyExample: 'zum Beispiel: Schreibtisch',
  add: 'Schlüssel registrieren',
  cannot:
    'Browser unterstützen Sicherheitsschlüssel nur über HTTPS und auf localhost. Öffnen Sie die Konsole unter einer solchen Adresse, um einen zu registrieren.',
  requireOwn: 'Für dieses Konto bei jeder Anmeldung einen Schlüssel verlangen',
};

/** The page that signs in a terminal. */
export const terminal: typeof en.terminal = {
  code: 'Code, den das Terminal zeigt',
  show: 'Weiter',
  name: 'Angegebener Name',
  address: 'Adresse des Terminals',
  asked: 'Angefragt um',
  warning: 'Stimmen Sie nur zu, wenn Sie gerade devmgr login --web gestartet haben und das Terminal diesen Code zeigt.',
  account: 'Konto',
  compare:
    'Stimmen Sie nur zu, wenn Sie gerade devmgr login --sso auf diesem Rechner gestartet haben und das Terminal diesen Code zeigt. Sonst erhält jemand anderes Ihre Rechte: Schließen Sie diese Seite.',
  over: 'Diese Seite wurde schon benutzt, oder die Anmeldung hat zu lange gedauert. Rufen Sie devmgr login --sso erneut auf.',
  effect: user => `Das Terminal wird als ${user} angemeldet.`,
  approve: 'Das ist mein Terminal: anmelden',
  done: 'Das Terminal ist angemeldet. Sie können diese Seite schließen.',
  unknown:
    'Kein Terminal wartet auf diesen Code: Er ist falsch, wurde schon benutzt oder ist älter als fünf Minuten. Vergleichen Sie ihn mit dem Terminal, oder rufen Sie devmgr login --web erneut auf.',
};

/** The list of devices. */
export const devices: typeof en.devices = {
  import: 'Importieren',
  searchHint: 'ID, Seriennummer, Person, Modell, Merkmal …',
  persons: 'Passende Personen',
  views: 'Ansichten',
  every: 'Alle',
  saveView: 'Als Ansicht speichern',
  viewName: 'Name der Ansicht',
  viewHint: 'Dieser Browser speichert Namen, Suche und Spalten. Die Adresse zeigt sie jedem, der sie sieht.',
  removeView: name => `Ansicht ${name} entfernen`,
  applied: 'Gesetzte Filter',
  filter: {
    search: 'Suche',
    keyword: 'ID oder Seriennummer',
    status: 'Zustand',
    deviceType: 'Art',
    proof: 'Nachweis',
    tag: 'Merkmal',
    manufacturer: 'Hersteller (genau)',
    model: 'Modell (genau)',
    userId: 'Person (genau)',
    serialNumber: 'Seriennummer (genau)',
    aaguid: 'AAGUID',
    advisory: 'Sicherheitshinweis',
    createdFrom: 'Registriert ab',
    createdTo: 'Registriert bis',
    lastUsedBefore: 'Unbenutzt seit',
    codeExpiresBefore: 'Code läuft ab vor',
  },
  removeFilter: name => `Filter ${name} entfernen`,
  removeFilters: 'Alle Filter entfernen',
  selected: (count, total) => `${grouped(count)} von ${s(total, 'Gerät', 'Geräten')} ausgewählt`,
  allSelected: total => `Alle Treffer ausgewählt: ${s(total, 'Gerät', 'Geräte')}`,
  select: id => `${id} auswählen`,
  selectPage: 'Alle auf dieser Seite auswählen',
  selectAll: total => `Alle ${grouped(total)} Treffer auswählen`,
  clear: 'Auswahl aufheben',
  changes: count => `${s(count, 'anderes Gerät', 'andere Geräte')} geändert. Anzeigen`,
  empty: 'Keine passenden Geräte.',
  export: format => `Export ${format}`,
  exporting: 'Wird exportiert …',
};

/** The dialog that adds a device. */
export const adding: typeof en.adding = {
  title: 'Ein Gerät hinzufügen',
  submit: 'Hinzufügen',
  plugged: 'Schlüssel am Rechner des Dienstes',
  byHand: 'keiner: Angaben eingeben',
  plugIn: 'Um hier einen neuen Schlüssel zu wählen, stecken Sie ihn am Rechner des Dienstes ein.',
  tags: 'Merkmale, je Zeile eines, etwa lot:7 (optional)',
  added: id => `${id} wurde hinzugefügt`,
  activated: userId => `Für ${userId} aktiviert.`,
  another: 'Noch eines',
  open: 'Gerät öffnen',
};

/** Why a file has no rows that can be read. */
const fileFaults: typeof en.importing.fault = {
  empty: 'Die Datei ist leer.',
  'no rows': 'Nach den Namen der Spalten enthält die Datei keine Geräte.',
  'all left out': 'Es bleibt keine Zeile übrig.',
  header: 'Die erste Zeile muss die Namen der Spalten enthalten.',
  'columns absent': 'Diese Spalten hat die Datei nicht:',
  'fields missing': 'Keine Spalte und kein Wert ist zugeordnet:',
  'column twice': 'Zwei Spalten können gemeint sein. Ordnen Sie eine zu:',
  'tag name': 'Diese Spalte ist kein gültiger Merkmalname:',
  array: 'Das ist keine gültige JSON-Liste.',
  'too long': 'Eine Zeile ist länger als 1 MiB.',
  foreign: 'Diese Datei hat keine lesbaren Zeilen:',
  workbook: 'Die Arbeitsmappe ist nicht lesbar.',
  xml: 'Die einzigen lesbaren XML-Dateien sind Schlüsselpakete (PSKC): Wählen Sie diese Quelle oben.',
  pskc: 'Das sind keine gültigen Schlüsselpakete.',
  'no packages': 'Die Datei hat keine Schlüsselpakete.',
};

/** Kinds of files that cannot be read as rows, and what to do with each. */
const foreignFiles: typeof en.importing.foreign = {
  html: 'Es ist eine HTML-Seite. Exportieren Sie sie als CSV (in ServiceNow: Exportieren > CSV), oder speichern Sie sie in Excel als .xlsx.',
  xls: 'Es ist eine Arbeitsmappe von Excel 97 bis 2003. Speichern Sie sie in Excel als .xlsx oder als CSV UTF-8.',
  'xml workbook':
    'Es ist eine XML-Kalkulationstabelle von 2003. Speichern Sie sie in Excel als .xlsx oder als CSV UTF-8.',
  'locked workbook':
    'Die Arbeitsmappe hat ein Kennwort. Entfernen Sie es in Excel, und speichern Sie die Arbeitsmappe.',
  opendocument: 'Es ist eine OpenDocument-Tabelle. Speichern Sie sie in LibreOffice als CSV oder als .xlsx.',
  numbers: 'Es ist eine Tabelle von Numbers. Exportieren Sie sie als CSV.',
  zip: 'Es ist ein ZIP-Archiv. Entpacken Sie es, und wählen Sie die Datei darin.',
  gzip: 'Es ist mit gzip komprimiert. Entpacken Sie es.',
  pdf: 'Es ist ein PDF-Dokument. Bitten Sie um die Liste als CSV oder .xlsx.',
  binary: 'Es ist keine Textdatei.',
};

/** The import of a file of devices. */
export const importing: typeof en.importing = {
  hint: 'Registriert die Geräte in einer Datei. Die Datei wird in diesem Browser gelesen; Spalten mit Geheimnissen werden nie gesendet.',
  fileHint: 'CSV mit Kopfzeile, Excel (.xlsx), JSON, JSON-Zeilen oder Schlüsselpakete (PSKC).',
  interrupted: name =>
    `Der Import von ${name} wurde unterbrochen. Wählen Sie die Datei noch einmal, um fortzufahren: Kein Gerät wird zweimal registriert, und die Ergebnisse enthalten alle Aktivierungscodes.`,
  preset: 'Quelle der Datei',
  presets: {
    '': 'andere: Die Spalten heißen wie die Felder',
    yubico: 'Yubico: Seriennummern oder Key Provisioning',
    'entra-oath': 'Microsoft Entra: OATH-Token',
    privacyidea: 'privacyIDEA: OATH-Token',
    'snipe-it': 'Snipe-IT: Assets',
    pskc: 'Schlüsselpakete (PSKC, XML)',
  },
  columns: 'Namen der Spalten, wenn die Datei keine Kopfzeile hat',
  columnsHint: 'serialNumber,-,model: der Reihe nach, - für eine, die nicht gelesen wird',
  where: 'Nur Zeilen mit SPALTE=WERT',
  whereHint: 'Kategorie=Sicherheitsschlüssel; Status=Lager: mehrere für eine Spalte erlauben jeden der Werte',
  column: { name: 'Spalte', example: 'Erste Zeile', field: 'Feld' },
  fieldOf: column => `Feld für die Spalte ${column}`,
  ignored: 'ignoriert',
  tag: name => `Merkmal ${name}`,
  missing: 'fehlt',
  secret: 'enthält Geheimnisse: wird nicht gesendet',
  defaults: 'Werte für Zeilen ohne Angabe',
  noDefault: 'keiner',
  asIs: 'Nummern unverändert übernehmen, auch wenn eine Tabellenkalkulation sie verändert zu haben scheint',
  check: 'Datei prüfen',
  reading: count => `Wird geprüft: ${s(count, 'Zeile', 'Zeilen')} …`,
  plan: 'Vorschau',
  planned: count => `${s(count, 'Gerät würde', 'Geräte würden')} registriert. Es wurde noch nichts geändert.`,
  start: count => `${s(count, 'Gerät', 'Geräte')} registrieren`,
  done: count => `${s(count, 'Gerät', 'Geräte')} registriert.`,
  codes: 'Die Datei mit den Ergebnissen enthält die Aktivierungscodes. Bewahren Sie sie sicher auf.',
  noted: 'Zeilen, die nicht neu sind',
  kind: {
    new: 'neu',
    added: 'registriert',
    exists: 'schon registriert',
    repeated: 'wiederholt',
    differs: 'weicht vom Register ab',
    refused: 'abgelehnt',
  },
  line: 'Zeile',
  fault: fileFaults,
  foreign: foreignFiles,
};

/** Bulk operations. */
export const bulk: typeof en.bulk = {
  counting: count => (count ? `Wird gezählt: bisher ${s(count, 'Gerät', 'Geräte')} …` : 'Wird gezählt …'),
  what: 'Aktion',
  changed: 'wird geändert',
  skipped: 'übersprungen: in diesem Zustand nicht möglich',
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
  stop: 'Nach diesem Stapel anhalten',
  stopping: 'Wird angehalten …',
  failed: count => `${grouped(count)} fehlgeschlagen.`,
  left: count => `${s(count, 'Gerät', 'Geräte')} nicht bearbeitet.`,
  failedTitle: 'Fehlgeschlagene Geräte',
  more: count => `${grouped(count)} weitere in der Datei.`,
  download: 'Ergebnisse herunterladen (CSV)',
  codes: 'Neue Codes',
  showCodes: 'Codes anzeigen',
  hideCodes: 'Codes verbergen',
  downloadCodes: 'Codes herunterladen (CSV)',
};

/** The page of a device. */
export const device: typeof en.device = {
  back: 'Alle Geräte',
  facts: {
    serialNumber: 'Seriennummer',
    deviceType: 'Art',
    manufacturer: 'Hersteller',
    model: 'Modell',
    hardwareVersion: 'Hardwareversion',
    firmwareVersion: 'Firmwareversion',
    user: 'Person',
    createdAt: 'Registriert',
    activatedAt: 'Aktiviert',
    lastUsedAt: 'Zuletzt benutzt',
    uses: 'Nutzungen',
    lockedAt: 'Gesperrt',
    lockReason: 'Grund der Sperre',
    deactivatedAt: 'Stillgelegt',
    shippedAt: 'Verschickt',
    receivedAt: 'Angekommen',
    updatedAt: 'Zuletzt geändert',
  },
  proof: {
    grades: {
      none: 'Über diesen Schlüssel ist nichts bekannt.',
      claimed: 'Nichts ist nachgewiesen: Nur der Schlüssel selbst gibt dies an.',
      model:
        'Der Schlüssel ist ein echter Schlüssel dieses Modells. Seine Seriennummer ist nicht nachgewiesen: Andere Schlüssel des Modells könnten sie angeben.',
      unit: 'Der Schlüssel ist echt und hat diese Seriennummer.',
      failed: 'Der Nachweis widerspricht dem Schlüssel: Verwenden Sie ihn nicht.',
    },
    without: 'Dieses Gerät wurde ohne Nachweis registriert.',
    aaguid: 'AAGUID',
    firmware: 'Firmware',
    method: 'Verfahren',
    root: 'Vertrauensanker',
    metadataNumber: 'FIDO-Metadaten',
    provedAt: 'Geprüft',
    warnings: 'Warnungen',
  },
  tags: {
    add: 'Neues Merkmal',
    submit: 'Hinzufügen',
    remove: name => `Merkmal ${name} entfernen`,
    fault:
      'Geben Sie name:wert ein. Ein Name beginnt mit einem Kleinbuchstaben und enthält nur Kleinbuchstaben, Ziffern, _ und -.',
  },
  noNote: 'Keine Bemerkung.',
  conflict: {
    title: 'Eine andere Person hat dies geändert, während Sie es bearbeitet haben.',
    stored: 'Gespeicherte Fassung',
    mine: 'Ihre Fassung',
    none: 'Leer',
    keepStored: 'Gespeicherte Fassung behalten',
    keepMine: 'Durch Ihre ersetzen',
  },
  readOnly: 'Merkmale, Bemerkung und Firmwareversion lassen sich nur ändern, solange das Gerät inaktiv oder aktiv ist.',
  code: {
    hidden: 'Verborgen. Nach dem Anzeigen bleibt er eine Minute lang sichtbar.',
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
    ACTIVATE: 'Das Gerät wird an die Person gebunden.',
  },
  history: {
    proved: 'geprüft',
    used: 'zuletzt benutzt',
    issued: 'ausgestellt bei',
    removed: 'entfernt bei',
  },
  backups: {
    title: 'Sicherungen',
    none: 'Keine Sicherungen.',
    column: { at: 'Gespeichert' },
    bytes: count => `${grouped(count)} Byte`,
    action: { restore: 'Als wiederhergestellt vermerken' },
    ask: {
      restore:
        'Der Dienst vergleicht die gespeicherte Datei mit ihrer Prüfsumme, und das Journal vermerkt die Wiederherstellung. Laden Sie die Datei herunter, um den Schlüssel wiederherzustellen.',
    },
    done: { restore: name => `${name} ist unversehrt und als wiederhergestellt vermerkt.` },
    add: 'Sicherung hinzufügen',
    added: id => `Die Sicherung ist als ${id} gespeichert.`,
    hint: 'Eine verschlüsselte Datei von höchstens 64 MiB. Der Dienst liest sie nicht.',
    fault: 'Die Datei ist leer oder größer als 64 MiB.',
    sending: 'Die Sicherung wird hochgeladen',
    more: count => `${grouped(count)} ältere: devmgr device-backups list`,
  },
  use: {
    title: 'Nutzung erfassen',
    hint: 'Zählt eine Nutzung und ihre Dauer zu den Summen des Geräts. Normalerweise melden Programme, die das Gerät benutzen, das selbst.',
    minutes: 'Dauer in Minuten',
    fault: 'Geben Sie eine Zahl von Minuten ein, höchstens 366 Tage.',
  },
  label: { title: 'Etikett', text: 'An einer Station mit Etikettendrucker:', print: 'Diese Seite drucken' },
};

/** The pages of lots and stations. */
export const line: typeof en.line = {
  lot: {
    name: 'Los',
    total: count => s(count, 'Los', 'Lose'),
    hint: 'Die Geräte, gruppiert nach dem Merkmal lot. Die Seite eines Loses wird aktualisiert, während die Linie läuft.',
    empty: 'Kein Gerät hat das Merkmal lot. So setzt es eine Linie:',
  },
  station: {
    name: 'Station',
    total: count => s(count, 'Station', 'Stationen'),
    hint: 'Die Geräte, gruppiert nach dem Merkmal station, das die Linie bei der Aufnahme setzt.',
    empty: 'Kein Gerät hat das Merkmal station. So setzt es eine Linie:',
  },
  tokenUsed: 'Token zuletzt benutzt',
  none: 'Kein Gerät hat dieses Merkmal.',
  facts: {
    first: 'Erste Registrierung',
    last: 'Letzte Registrierung',
    perHour: 'Geräte je Stunde',
    median: 'Zeit zwischen Geräten, Median',
    p95: 'Zeit zwischen Geräten, 95 %',
    persons: 'Personen',
  },
  registrations: minutes =>
    plural(minutes, 'Registrierungen je Minute', `Registrierungen je ${duration(60 * minutes)}`),
  keys: 'Schlüssel am Rechner des Dienstes',
  noKeys: 'Es ist kein Schlüssel eingesteckt.',
};

/** The drivers by name, and what each does. */
const drivers: Readonly<Record<string, readonly [what: string, works: string]>> = {
  hid: ['USB-Schlüssel', 'werden erkannt.'],
  pcsc: ['Kartenleser und ihre Karten', 'werden erkannt.'],
  simulated: ['Simulierte Schlüssel', 'sind eingeschaltet; keiner davon ist echt.'],
};

/** The page Health. */
export const health: typeof en.health = {
  summary: count => (count === 0 ? 'Alles funktioniert.' : `${s(count, 'Teil', 'Teile')} mit Handlungsbedarf.`),
  state: { good: 'funktioniert', warn: 'Handlungsbedarf', bad: 'funktioniert nicht', off: 'nicht eingerichtet' },
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
  notReady: () => 'Er nimmt keine Anfragen an.',
  noStore: () => 'Es kann nichts gespeichert werden.',
  driver: (name, state, detail) => {
    const words = drivers[name];
    return words ? `${words[0]} ${state === 'ready' ? words[1] : 'werden nicht erkannt.'}` : `${name}: ${detail}`;
  },
  daemons: count => `${s(count, 'Dienst benutzt', 'Dienste benutzen')} dieses Register.`,
  waiting: count => `${s(count, 'Eintrag des Journals wartet', 'Einträge des Journals warten')} auf die Weiterleitung.`,
  failing: count =>
    count === 0 ? 'Kein Webhook schlägt fehl.' : `${s(count, 'Webhook schlägt fehl', 'Webhooks schlagen fehl')}.`,
  directory: fails =>
    fails
      ? 'Der letzte Lauf ist fehlgeschlagen: Ausgeschiedene werden nicht erfasst.'
      : 'Personen werden daraus gelesen.',
  providers: pending =>
    pending === 0 ? 'Keine Passkeys zu entfernen.' : `${s(pending, 'Passkey ist', 'Passkeys sind')} noch zu entfernen.`,
  todo: {
    node: 'Senden Sie diesem Dienst keine Anfragen. Die Ursache steht im Protokoll: devmgr daemon logs.',
    daemons: '',
    store: 'Prüfen Sie die Festplatte oder den Datenbankserver, danach: devmgr daemon check.',
    forwarding:
      'Wenn die Zahl wächst, prüfen Sie den Empfänger von --forward. Es geht nichts verloren, solange er nicht erreichbar ist.',
    webhooks:
      'Öffnen Sie unter Webhooks die Zustellungen, beheben Sie den Fehler beim Empfänger, und schalten Sie den Webhook ein.',
    directory: 'Öffnen Sie unter Richtlinien das Verzeichnis: Dort steht die Ursache. Lesen Sie es danach erneut.',
    providers:
      'Wenn die Zahl nicht sinkt, öffnen Sie Anbieter: Die Liste nennt die Ursache. Das Register wiederholt das Entfernen.',
    drivers: 'Nur nötig, wenn hier Schlüssel eingesteckt werden. devmgr doctor nennt die Abhilfe.',
  },
};

/** The page Cleanup. */
export const cleanup: typeof en.cleanup = {
  hint: 'Nicht mehr benötigte Geräte sperren oder stilllegen. Der Plan ändert nichts; ein Gerät, das sich danach ändert, wird übersprungen.',
  filterNeeded: 'Ein Plan braucht außer dem Zustand einen Filter, zum Beispiel:',
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
  carryOut: 'Plan ausführen',
  changed: {
    title: count => `${s(count, 'Gerät hat', 'Geräte haben')} sich seit dem Plan geändert: übersprungen.`,
    unmatched: 'es passt nicht mehr zu den Filtern des Plans',
    status: (before, now) => `es war ${before} und ist ${now}`,
    user: user => `es ist an ${user} gebunden`,
    used: 'es wurde benutzt',
    other: 'es hat sich geändert',
    done: state => `es ist schon ${state}`,
  },
};

/** The page Packages. */
export const packages: typeof en.packages = {
  total: count => s(count, 'Paket', 'Pakete'),
  empty: 'Es wurde noch kein Paket hochgeladen.',
  all: 'Alle Plattformen',
  column: { version: 'Version', platform: 'Plattform', digest: 'SHA-256', uploaded: 'Hochgeladen' },
  action: { create: 'Paket hochladen' },
  newest: 'neueste',
  forced: 'erzwingt ein Update',
  oldest: version => `älteste unterstützte: ${version}`,
  changes: 'Änderungen',
  tooLarge: 'Dieser Browser kann keine Datei dieser Größe speichern. Auf der Befehlszeile:',
  saved: name => `${name} wurde gespeichert; der SHA-256-Wert stimmt.`,
  damaged: name =>
    `${name} wurde bei der Übertragung beschädigt: Der SHA-256-Wert stimmt nicht. Es wurde nichts gespeichert. Laden Sie das Paket erneut herunter.`,
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
  wrongVersion:
    'Geben Sie bis zu vier Zahlen mit Punkten ein, dann Teile mit - oder +, zum Beispiel 1.0.0 oder 1.2.0-rc.1.',
  exists: id => `Diese Version wurde schon als ${id} hochgeladen. Wählen Sie eine andere Versionsnummer.`,
  sending: name => `${name} wird hochgeladen`,
  checking: 'Das Paket ist gespeichert. Der SHA-256-Wert wird verglichen …',
  cancel: 'Hochladen abbrechen',
  canceled: 'Das Hochladen wurde abgebrochen.',
  limit: minutes =>
    `Sie können zehn Pakete je Stunde hochladen. Versuchen Sie es in ${s(minutes, 'Minute', 'Minuten')} erneut.`,
  same: 'Datei und Dienst haben denselben SHA-256-Wert.',
  different:
    'Der Dienst hat eine andere Datei gespeichert. Verteilen Sie sie nicht; laden Sie die Datei unter einer anderen Version hoch.',
  notCompared:
    'Das Paket ist gespeichert. Die Datei konnte nicht noch einmal gelesen werden; ihr SHA-256-Wert wurde nicht verglichen.',
  ofFile: 'SHA-256 der Datei',
  ofDaemon: 'SHA-256 des Dienstes',
  uploaded: id => `Hochgeladen als ${id}`,
};

/** What the daemon writes in English about items of a case. */
const caseReasons: Readonly<Record<string, string>> = {
  'the account is enabled': 'das Konto ist aktiv',
  'the account is disabled': 'das Konto ist gesperrt',
  enabled: 'aktiv',
  disabled: 'gesperrt',
  revoked: 'widerrufen',
  expired: 'abgelaufen',
  'refused, because its owner has left': 'abgelehnt, weil der Eigentümer ausgeschieden ist',
  accepted: 'wird angenommen',
  removed: 'entfernt',
  'not removed': 'nicht entfernt',
  'cannot end': 'kann nicht enden',
  'not returned': 'nicht zurückgegeben',
  ended: 'beendet',
  read: 'gelesen',
  'not read': 'nicht gelesen',
};

/** The pages of persons. */
export const people: typeof en.people = {
  total: count => s(count, 'Person', 'Personen'),
  empty: 'Keine passenden Personen.',
  first:
    'Personen kommen von einem Anbieter, einem Verzeichnis oder über SCIM, oder werden hier hinzugefügt. Ihnen gehören Schlüssel.',
  column: { groups: 'Gruppen', source: 'Quelle', devices: 'Geräte', left: 'Ausgeschieden' },
  sources: { local: 'dieses Register', scim: 'Identitätsanbieter', directory: 'Verzeichnis', import: 'Liste' },
  state: { active: 'aktiv', left: 'ausgeschieden' },
  filter: { keyword: 'Name, E-Mail oder ID', anySource: 'Alle Quellen', anyState: 'Alle Zustände' },
  optional: { name: 'Name (optional)', email: 'E-Mail (optional)' },
  action: {
    create: 'Person hinzufügen',
    leave: 'Als ausgeschieden vermerken',
    back: 'Als zurückgekehrt vermerken',
    erase: 'Löschen',
  },
  of: {
    leave: name => `${name} als ausgeschieden vermerken`,
    back: name => `${name} als zurückgekehrt vermerken`,
    erase: name => `${name} löschen`,
  },
  ask: {
    back: 'Die Person kann wieder Geräte bekommen. Kein Gerät wird entsperrt, und das Konto bleibt gesperrt: Die Seite der Person nennt die gesperrten Schlüssel.',
  },
  done: {
    create: name => `${name} wurde hinzugefügt.`,
    back: name => `${name} ist zurück.`,
    erase: name => `${name} ist gelöscht.`,
  },
  erasure: {
    goes: 'Dies wird aus dem Register und seiner Datenbank entfernt und ist im Journal nicht mehr lesbar:',
    devices: (count, id) =>
      count === 0
        ? 'Die Person hat keine Geräte.'
        : `${s(count, 'Gerät zeigt', 'Geräte zeigen')} danach ${id} statt des Namens:`,
    open: 'Der Fall dieser Person ist offen. Schließen Sie ihn zuerst.',
    final:
      'Dies lässt sich nicht rückgängig machen. Die Datenbank wird neu geschrieben, und ein großes Register antwortet währenddessen nicht. Antworten, die für wiederholte Anfragen gespeichert sind, werden entfernt.',
    confirm: userName => `Geben Sie den Benutzernamen ein: ${userName}`,
    unreached: 'Das Folgende erreicht die Löschung nicht. Löschen Sie die Person erneut, um die Liste wieder zu sehen.',
    until: time => `(bis ${time} verschwunden)`,
    remains: {
      backups:
        'Frühere Sicherungen des Registers und der Datenbank: Löschen Sie die Person nach einer Wiederherstellung erneut.',
      home: 'Kopien der Datenbank, die eine Aktualisierung daneben hinterlassen hat (devmgr.db.v*): Löschen Sie sie.',
      'database-log': 'Write-Ahead-Log und Archive von PostgreSQL, bis der Server sie überschrieben hat.',
      forwarding: 'Einträge des Journals, die an einen anderen Rechner weitergeleitet wurden, mit Benutzernamen.',
      webhooks: 'Zustellungen von Webhooks, die Empfänger gespeichert haben.',
      stations:
        'Dateien an Stationen und der Kommandozeile: Ergebnisse, Exporte, Berichte, gedruckte Etiketten und Belege.',
      journal:
        'Texte, die jemand eingegeben hat: Gründe und Notizen in Einträgen von Geräten; Namen, die ein Gerät ohne Person hatte.',
      accounts: 'Der Name eines Kontos, im Konto und in Einträgen über dessen Änderungen:',
      source: 'Die Quelle der Person: Sie fügt die Person wieder hinzu, wenn sie sie noch hat.',
      tokens: 'Token von Sitzungen, die Clients der Person haben, mit dem Namen des Kontos; sie werden abgelehnt.',
      logs: 'Protokolle der Daemons, von Proxys und der Datenbank: Anfragen, die die Person in ihrer Adresse nennen.',
    },
  },
  leavers: { lock: 'gesperrt', retire: 'endgültig stillgelegt' },
  policy: {
    leavers: 'Geräte von Ausgeschiedenen werden',
    leaverDelayHours: 'Stunden bis dahin',
    retentionDays: 'Tage bis zum Löschen Ausgeschiedener',
    copiesDays: 'Tage, für die Kopien aufbewahrt werden',
    arrivalDays: 'Tage, bis ein verschickter Schlüssel überfällig ist',
  },
  will: (count, what, hours) =>
    count === 0
      ? 'Diese Person hat keine aktiven Geräte.'
      : `${s(count, 'aktives Gerät wird', 'aktive Geräte werden')} ${hours === 0 ? 'sofort' : `nach ${s(hours, 'Stunde', 'Stunden')}`} ${what}:`,
  account: 'Das Konto mit demselben Benutzernamen wird gesperrt. Die Person bekommt keine weiteren Geräte.',
  gone: (name, count) => `${name} ist ausgeschieden: ${s(count, 'Gerät', 'Geräte')} gesperrt oder stillgelegt.`,
  due: (name, at) => `${name} ist ausgeschieden. Die Geräte werden am ${at} gesperrt oder stillgelegt.`,
  heldBack: count =>
    `Die Person ist ausgeschieden, aber ${s(count, 'Gerät bleibt', 'Geräte bleiben')} aktiv: Zu viele Geräte würden innerhalb von zehn Minuten gesperrt. Geben Sie sie auf der Seite Personen frei.`,
  back: 'Alle Personen',
  externalId: 'ID bei der Quelle',
  personId: 'ID',
  keys: 'Schlüssel',
  noKeys: 'An diese Person sind keine Schlüssel gebunden.',
  history: 'Verlauf der Schlüssel',
  newestKeys: count => `Nur Ereignisse der ${count} zuletzt registrierten Schlüssel.`,
  locked: {
    title: 'Gesperrte Schlüssel',
    hint: 'Schlüssel werden nicht automatisch entsperrt. Entsperren Sie die, die diese Person behält.',
  },
  held: {
    title: 'Zurückgehaltene Sperren und Namen',
    hint: 'Zu viele Geräte oder Konten wären innerhalb von zehn Minuten gesperrt oder umbenannt worden. Deshalb bleiben sie, wie sie sind, bis Sie sie freigeben. Ist die Quelle falsch, berichtigen Sie stattdessen diese.',
    column: { since: 'Zurückgehalten', devices: 'Geräte oder Name' },
    action: { release: 'Freigeben' },
    all: 'Alle freigeben',
    question:
      'Diese Geräte werden gesperrt oder, wenn die Richtlinie es verlangt, stillgelegt, und diese Namen vergeben:',
    renamed: userName => `neuer Name ${userName}`,
    none: 'Diese Personen werden nicht mehr zurückgehalten.',
    submit: count => `${s(count, 'Gerät', 'Geräte')} sperren`,
    locked: count => `${s(count, 'Gerät', 'Geräte')} gesperrt oder stillgelegt.`,
  },
  cases: {
    title: 'Offene Fälle',
    none: 'Kein Fall ist offen.',
    hint: 'Was Ausgeschiedene noch haben. Beenden Sie jeden Posten, oder behalten Sie ihn mit einem Grund; schließen Sie dann den Fall.',
    column: { left: 'Ausgeschieden', open: 'Offen', kept: 'Behalten', next: 'Nächster Schritt' },
    action: { close: 'Fall schließen' },
    ask: { close: 'Die Posten werden gespeichert, wie sie jetzt sind, und das Journal erhält den Digest des Falls.' },
    done: { close: name => `Der Fall von ${name} ist geschlossen.` },
  },
  log: {
    title: 'Was die Quelle gesendet hat',
    column: { time: 'Zeit', what: 'Was', fields: 'Felder', reason: 'Grund', by: 'Von' },
    outcome: {
      added: 'hinzugefügt',
      updated: 'geändert',
      left: 'ausgeschieden',
      held: 'zurückgehalten',
      returned: 'wieder da',
      refused: 'abgelehnt',
    },
  },
  case: {
    title: 'Fall',
    open: 'Diese Person ist ausgeschieden. Beenden Sie jeden Posten, oder behalten Sie ihn mit einem Grund.',
    closed: time => `Der Fall endete am ${time}.`,
    none: 'Das Register kennt nichts, was diese Person hatte.',
    why: 'Grund',
    kind: {
      device: 'Gerät',
      account: 'Konto',
      session: 'Sitzungen',
      token: 'Diensttoken',
      passkey: 'Schlüssel zur Anmeldung',
      credential: 'Passkey bei einem Anbieter',
      issue: 'Nicht abgeschlossener Passkey',
      loan: 'Leihe',
      pin: 'Nicht gelesene PIN',
    },
    states: { open: 'offen', closed: 'beendet', kept: 'behalten' },
    reason(text) {
      const [words = '', due] = text.split(/, due on | \(/);
      const german = text.replace(words, caseReasons[words] ?? words);
      return due ? german.replace(', due on ', ', fällig am ') : german;
    },
    keep: name => `${name} behalten`,
    kept: name => `${name} wird behalten.`,
  },
};

/** The page Users. */
export const users: typeof en.users = {
  total: count => s(count, 'Konto', 'Konten'),
  column: { key: 'Sicherheitsschlüssel', since: 'Angelegt' },
  key: { yes: 'registriert', no: 'keiner', until: time => `darf bis ${time} registriert werden` },
  state: { enabled: 'aktiv', disabled: 'gesperrt', removed: 'entfernt' },
  you: 'Sie',
  action: {
    create: 'Konto anlegen',
    edit: 'Bearbeiten',
    password: 'Passwort',
    logout: 'Abmelden',
    disable: 'Sperren',
    enable: 'Entsperren',
  },
  of: { password: name => `Passwort von ${name}` },
  ask: {
    logout:
      'Alle Sitzungen dieses Kontos enden sofort, auf jedem Rechner. Das Passwort bleibt unverändert. Diensttoken sind nicht betroffen.',
    disable:
      'Mit diesem Konto kann sich niemand mehr anmelden, alle seine Sitzungen enden sofort, und seine Diensttoken werden abgelehnt. Was damit getan wurde, bleibt im Journal. Sie können es wieder entsperren.',
    enable: 'Das Konto kann sich wieder mit demselben Passwort anmelden.',
    remove:
      'Mit diesem Konto kann sich niemand mehr anmelden, alle seine Sitzungen enden sofort, und die E-Mail-Adresse wird gelöscht. Der Name bleibt vergeben, und was damit getan wurde, bleibt im Journal. Entsperren Sie das Konto, um dies rückgängig zu machen.',
  },
  lost: {
    title: 'Wenn ein Schlüssel verloren ist',
    remove: 'Entfernen Sie oben den verlorenen Schlüssel. Von da an wird er abgelehnt.',
    logout: 'Beenden Sie oben die Sitzungen: Die mit dem Schlüssel begonnenen würden weiterlaufen.',
    other: 'Die Person meldet sich mit einem anderen dieser Schlüssel an und registriert im Kontomenü einen neuen.',
    password:
      'Setzen Sie oben ein neues Passwort, und geben Sie es der Person selbst: Ohne Schlüssel kann jeder, der das Passwort kennt, den nächsten registrieren.',
    allow: 'Erlauben Sie die Registrierung eines Schlüssels. Bis dahin wird das Passwort allein abgelehnt.',
    button: 'Für 24 Stunden erlauben',
    allowed: until => `Erlaubt bis ${until}.`,
    register:
      'Die Person meldet sich mit dem neuen Passwort an, registriert einen neuen Schlüssel und meldet sich mit beidem an.',
    alone: 'Die Person meldet sich mit dem Passwort an und registriert im Kontomenü einen neuen Schlüssel.',
  },
  own: 'Auch diese Sitzung endet. Melden Sie sich danach erneut an.',
  ownRole: 'Ihre eigene Rolle können Sie hier nicht ändern. Ein anderer Administrator kann es.',
  usernameShape: 'ASCII-Buchstaben, Ziffern und - _ . @',
  current: 'Ihr aktuelles Passwort',
  password: 'Neues Passwort',
  repeat: 'Passwort wiederholen',
  different: 'Die Passwörter stimmen nicht überein.',
  passwordEnds: 'Alle Sitzungen dieses Kontos enden sofort.',
  done: {
    create: name => `${name} wurde angelegt.`,
    edit: name => `${name} wurde geändert.`,
    password: name => `${name} hat ein neues Passwort.`,
    logout: name => `${name} ist überall abgemeldet.`,
    disable: name => `${name} ist gesperrt.`,
    enable: name => `${name} ist entsperrt.`,
  },
};

export const policies: typeof en.policies = {
  proof: {
    title: 'Was ein Schlüssel nachweisen muss',
    hint: 'Ein Schlüssel, der das nicht nachweist, kann nicht registriert werden. Registrierte Geräte sind nicht betroffen.',
    requiredGrade: 'Mindestnachweis',
    grade: {
      none: 'Kein Nachweis verlangt',
      claimed: 'Was der Schlüssel über sich meldet',
      model: 'Das Modell',
      unit: 'Das Modell und die Seriennummer',
    },
    allowedAaguids: 'Zugelassene Modelle (AAGUIDs)',
    aaguidsHint: 'Eine je Zeile; leer: jedes Modell. Nur FIDO weist eine AAGUID nach.',
    leastFirmware: 'Mindestfirmware',
    identity: 'An einem Credential des Schlüssels erkannt',
    identities: {
      required: 'Alle Schlüssel',
      'where-needed': 'Schlüssel ohne brauchbare Seriennummer',
      never: 'Kein Schlüssel',
    },
    firmwareHint:
      'Eine Regel je Zeile: 5.7.0 für alle Schlüssel, YubiKey=5.7.0 für Modelle, deren Name mit YubiKey beginnt, oder eine AAGUID statt des Namens. Nur SCP11b weist die Firmware nach.',
    any: 'beliebig',
    wrongLine: line => `Diese Zeile ist ungültig: ${line}`,
    preview: 'Vorschau',
    previewTitle: 'Was die Richtlinie ablehnen würde',
    previewHint: days =>
      `Gezählt werden Geräte, die abgelehnt würden, wenn sie mit ihrem Nachweis noch einmal registriert würden: alle Geräte und die der letzten ${days} Tage.`,
    rule: 'Abgelehnt wegen',
    all: 'Alle Geräte',
    recent: days => `Letzte ${days} Tage`,
    rules: {
      grade: 'schwächerer Nachweis',
      aaguid: 'nicht zugelassenes oder nicht nachgewiesenes Modell',
      together: 'eines von beiden',
    },
    notCounted: {
      aaguids: 'Nicht gezählt: die zugelassenen Modelle, weil es mehr als 20 sind.',
      firmware:
        'Nicht gezählt: die Mindestfirmware. Das Register kann Geräte nicht nach nachgewiesener Firmware auflisten.',
    },
    set: 'Richtlinie festlegen',
  },
  signIn: {
    title: 'Wer sich mit einem Sicherheitsschlüssel anmelden muss',
    hint: 'Konten dieser Rollen melden sich nach dem Passwort mit einem Schlüssel an. Ein Konto ohne Schlüssel kann nur einen registrieren. Verlangen Sie von einer Rolle erst dann Schlüssel, wenn ihre Konten sie registriert haben.',
    roles: 'Rollen',
    require: {
      title: role => `Von der Rolle ${role} einen Schlüssel verlangen?`,
      submit: 'Schlüssel verlangen',
      hint: 'Wer diese Rolle und keinen Schlüssel hat, kann bei der nächsten Anmeldung nur einen registrieren.',
    },
    release: {
      title: role => `Der Rolle ${role} die Anmeldung ohne Schlüssel erlauben?`,
      submit: 'Passwort allein zulassen',
      hint: 'Konten dieser Rolle können sich dann mit dem Passwort allein anmelden.',
    },
    users: count => `${s(count, 'aktives Konto', 'aktive Konten')} mit dieser Rolle.`,
    without: count => (count ? `${grouped(count)} ohne Schlüssel:` : 'Alle haben einen Schlüssel.'),
    more: count => `und ${grouped(count)} weitere`,
    sitesUnknown: 'Nicht geprüft: ob jeder Schlüssel für die Adresse gilt, unter der sich sein Konto anmeldet.',
    ownUnknown:
      'Nicht gezählt: Konten, die unabhängig von der Richtlinie einen Schlüssel brauchen. Sie brauchen ihn weiterhin.',
  },
  pin: {
    title: 'Wer PINs lesen kann',
    hint: 'Die PINs, die Stationen erzeugen, werden für diese age-Empfänger verschlüsselt. Das Register kann sie nicht lesen.',
    none: 'Kein Empfänger: Stationen können keine PINs erzeugen.',
    change: 'Empfänger ändern',
    field: { recipients: 'Empfänger, age1…' },
  },
  people: {
    title: 'Personen, Ausgeschiedene und verschickte Schlüssel',
    hint: 'Fristen, die schon laufen, bleiben.',
    change: 'Regeln für Personen ändern',
    field: {
      personsRequired: 'Schlüssel werden nur für aktive Personen aktiviert',
      leavers: 'Aktive Geräte einer Person, die ausscheidet',
      leaverDelayHours: 'Stunden bis dahin; 0: sofort',
      arrivalDays: 'Tage, bis die Ankunft eines Schlüssels überfällig ist; leer: nie',
      retentionDays: 'Tage nach ihrem Fall, bis eine Person endgültig gelöscht wird; leer: nie',
      copiesDays: 'Tage, für die Sicherungen, Protokolle und weitergeleitete Einträge bleiben; leer: unbekannt',
    },
    choice: { leavers: { lock: 'gesperrt', retire: 'endgültig stillgelegt' } },
  },
  directory: {
    title: 'Verzeichnis der Personen',
    hint: 'Personen werden aus diesem Verzeichnis gelesen. Wird eine Person dort deaktiviert oder entfernt, werden ihre Geräte gesperrt.',
    off: 'Es ist kein Verzeichnis eingerichtet.',
    setUp: 'Unter Anbieter hinzufügen',
    address: 'Adresse',
    times: 'Zeitplan',
    every: (some, all) => `alle ${grouped(some)} min, alle Einträge alle ${grouped(all)} min`,
    last: 'Letzter Lauf',
    none: 'keiner',
    read: count => `${s(count, 'Eintrag', 'Einträge')} gelesen`,
    preview: 'Vorschau eines Laufs',
    submit: 'Jetzt lesen',
    column: { step: 'Änderung', person: 'Person', detail: 'Einzelheit' },
    steps: {
      new: 'neu',
      changed: 'geändert',
      left: 'ausgeschieden',
      held: 'zurückgehalten',
      back: 'zurück',
      skipped: 'übersprungen',
    },
  },
};

export const trust: typeof en.trust = {
  hint: 'Schlüssel werden anhand der Metadaten der FIDO-Allianz und der Zertifikate von Herstellern geprüft. devmgr enthält keine und lädt keine herunter.',
  total: count => s(count, 'Eintrag', 'Einträge'),
  empty:
    'Noch gilt nichts als vertrauenswürdig, also kann kein Schlüssel etwas nachweisen. Importieren Sie die Metadaten der FIDO-Allianz oder die Zertifikate eines Herstellers.',
  column: { kind: 'Art', vouches: 'Bürgt für', until: 'Gültig bis', fingerprint: 'SHA-256', by: 'Importiert von' },
  action: { create: 'Importieren' },
  ask: {
    remove:
      'Es wird nicht mehr zur Prüfung von Schlüsseln benutzt. Gespeicherte Nachweise ändern sich erst, wenn sie erneut geprüft werden.',
  },
  done: {
    remove: name =>
      `${name} gilt nicht mehr als vertrauenswürdig. Prüfen Sie die gespeicherten Nachweise erneut, damit sie dem entsprechen.`,
  },
  kind: { anchor: 'Wurzel', intermediate: 'Zwischenzertifikat', metadata: 'FIDO-Metadaten' },
  purpose: { scp11b: 'sichere Kanäle (SCP11b)', fido: 'FIDO-Schlüssel' },
  chains: purpose => `allein für nichts: vervollständigt Ketten von ${purpose}`,
  u2f: 'U2F-Schlüssel',
  metadata: number => `FIDO-Metadaten ${number}`,
  models: count => s(count, 'Modell', 'Modelle'),
  file: 'FIDO-Metadaten (BLOB) oder Zertifikate in PEM oder DER',
  purposeHint: 'Nur für Zertifikate. Die Metadaten nennen ihre Modelle selbst.',
  aaguids: 'Modelle (AAGUIDs)',
  aaguidsHint: 'Eine je Zeile; leer: U2F-Schlüssel.',
  label: 'Name, etwa der Hersteller (optional)',
  imported: 'Importiert',
  compare: 'Vergleichen Sie den SHA-256-Wert mit dem, den der Hersteller veröffentlicht:',
  judge: {
    title: 'Erneut prüfen',
    hint: 'Prüft alle gespeicherten Antworten von Schlüsseln anhand dessen, was jetzt als vertrauenswürdig gilt. Das Journal verzeichnet jeden geänderten Nachweis.',
    progress: count => `${s(count, 'Gerät', 'Geräte')} geprüft …`,
    done: (judged, changed) =>
      `${s(judged, 'Gerät', 'Geräte')} geprüft, ${s(changed, 'Nachweis', 'Nachweise')} geändert.`,
    next: 'Gespeicherte Nachweise ändern sich erst, wenn sie erneut geprüft werden.',
  },
};

/** The page Tokens. */
export const tokens: typeof en.tokens = {
  title: 'Diensttoken',
  hint: 'Mit einem Diensttoken benutzt ein Programm das Register ohne das Passwort einer Person.',
  total: count => `${grouped(count)} Token`,
  empty: 'Es wurde noch kein Token angelegt.',
  column: { may: 'Rechte', expires: 'Läuft ab', networks: 'Angenommen aus' },
  action: { create: 'Token anlegen', adopt: 'Übernehmen', revoke: 'Widerrufen' },
  ask: {
    adopt:
      'Das Token endet nicht mehr mit dem Konto des bisherigen Eigentümers, sondern mit Ihrem. Der Text des Tokens bleibt gleich: Wenn der bisherige Eigentümer eine Kopie haben kann, legen Sie ein anderes an und widerrufen Sie dieses.',
  },
  state: {
    valid: 'gültig',
    expired: 'abgelaufen',
    revoked: 'widerrufen',
    ownerless: 'Eigentümer gesperrt oder ausgeschieden',
  },
  anywhere: 'jedem Netz',
  permissions: 'Zusätzliche Rechte',
  permission: {
    webhooks: 'Webhooks',
    policies: 'Richtlinien',
    scim: 'SCIM (Personen eines Identitätsanbieters)',
    decide: 'Entscheidungen (Zugänge)',
    ssh: 'SSH-Schlüssel (Rechner)',
    'record-use': 'Entscheidungen zählen als Nutzung',
  },
  nothing: 'keine',
  nameHint: 'des Programms oder der Station',
  days: (min, max) => `Tage bis zum Ablauf (${min} bis ${max})`,
  networks: 'Nur aus diesen Netzen annehmen (optional)',
  networksHint: 'Ein CIDR je Zeile, zum Beispiel 10.20.0.0/16. Leer: jedes Netz.',
  created: name => `Token ${name}`,
  once: 'Kopieren Sie das Token jetzt: Es wird nicht noch einmal angezeigt. Das Register speichert nur einen Hashwert davon.',
  token: 'Token',
  until: (role, time) => `Rolle: ${role}. Gültig bis ${time}.`,
  askRevoke:
    'Die nächste Anfrage mit diesem Token wird abgelehnt, und seine Streams enden. Das kann nicht rückgängig gemacht werden.',
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
  total: count => s(count, 'Webhook', 'Webhooks'),
  empty: 'Es wurde noch kein Webhook angelegt.',
  column: { url: 'Adresse', types: 'Ereignisse', waiting: 'Wartend', delivered: 'Zuletzt zugestellt' },
  action: { create: 'Webhook anlegen', disable: 'Ausschalten', enable: 'Einschalten' },
  ask: {
    test: 'Eine signierte Nachricht der Art WEBHOOK_TEST wird einmal gesendet.',
    disable: 'Bis zum Einschalten werden keine Ereignisse gesendet. Neue Ereignisse warten.',
    enable: 'Das Ereignis nach dem zuletzt zugestellten wird sofort gesendet, dann die späteren.',
    remove:
      'Geheimnis und Liste der Zustellungen werden gelöscht, wartende Ereignisse nicht gesendet. Das kann nicht rückgängig gemacht werden.',
  },
  done: {
    create: url => `${url} ist angelegt.`,
    disable: url => `${url} ist ausgeschaltet.`,
    enable: url => `${url} ist eingeschaltet.`,
  },
  taken: (url, milliseconds) => `${url} hat die Nachricht in ${grouped(milliseconds)} ms angenommen.`,
  notTaken: (url, reason) => `${url} hat die Nachricht nicht angenommen: ${reason}.`,
  state: { active: 'aktiv', retrying: 'wird wiederholt', disabled: 'ausgeschaltet' },
  failures: count => `${s(count, 'Fehlversuch', 'Fehlversuche')}, nächster:`,
  all: 'alle',
  waiting: count => (count < 100 ? `${count}` : '100 oder mehr'),
  types: 'Nur diese Ereignisse (keines gewählt: alle)',
  ownSecret: 'Eigenes Geheimnis, whsec_… (optional)',
  created: id => `Webhook ${id}`,
  once: 'Kopieren Sie das Geheimnis jetzt: Es wird nicht noch einmal angezeigt. Der Empfänger prüft damit die Signaturen.',
  secret: 'Geheimnis',
  attempt: (eventId, event, attempt) =>
    `Zustellung von Ereignis ${eventId}: ${event}${attempt > 1 ? `, Versuch ${attempt}` : ''}`,
  replay: 'Erneut senden',
  replayOf: eventId => `Erneut senden: Ereignis ${eventId}`,
  delivered: 'zugestellt',
  failed: 'fehlgeschlagen',
};

/** The page Providers. */
export const providers: typeof en.providers = {
  hint: 'Bei einem Anbieter melden sich Personen an, werden die Personen des Registers verwaltet oder Schlüssel ausgegeben. Wird ein Schlüssel gesperrt oder stillgelegt, werden seine Passkeys bei Anbietern entfernt.',
  total: count => `${grouped(count)} Anbieter`,
  empty: 'Es wurde noch kein Anbieter hinzugefügt.',
  column: {
    at: 'Mandant oder Adresse',
    'sign-in': 'Anmeldung',
    people: 'Personen',
    keys: 'Schlüssel',
    problem: 'Problem',
    credentials: 'Passkeys',
    pending: 'Zu entfernen',
  },
  type: {
    entra: 'Microsoft Entra ID',
    okta: 'Okta',
    webauthn: 'WebAuthn-Server',
    devmgr: 'Konten dieses Registers',
    ssh: 'SSH',
    oidc: 'OpenID Connect',
    ldap: 'LDAP-Verzeichnis',
    scim: 'SCIM',
  },
  tokenProblem: {
    expired: 'Sein Token ist abgelaufen.',
    'no owner': 'Sein Token hat keinen Eigentümer.',
    unused: 'Sein Token wurde noch nie benutzt.',
  },
  state: { works: 'in Ordnung', fails: 'schlägt fehl', untested: 'nicht geprüft' },
  action: {
    create: 'Anbieter hinzufügen',
    oidc: 'Anmeldung ändern',
    ldap: 'Verzeichnis ändern',
    reconcile: 'Vergleichen',
    secret: 'Geheimnis ersetzen',
  },
  of: {
    oidc: name => `Anmeldung bei ${name} ändern`,
    ldap: name => `Verzeichnis ${name} ändern`,
    reconcile: name => `Mit ${name} vergleichen`,
    secret: name => `Geheimnis von ${name} ersetzen`,
  },
  askTest: 'Anfragen, die nichts ändern, prüfen, ob der Anbieter antwortet und das Geheimnis annimmt.',
  check: {
    settings: 'Einstellungen',
    discovery: 'Discovery',
    keys: 'Signaturschlüssel',
    clock: 'Uhr',
    PKCE: 'PKCE',
    'device code': 'Anmeldung von Terminals',
    'back-channel logout': 'Abmeldung durch den Anbieter',
    'client secret': 'Client-Geheimnis',
    connection: 'Verbindung',
    server: 'Art des Servers',
    'sign-in': 'Anmeldung',
    pages: 'Ergebnisse seitenweise',
    changes: 'Geänderte Einträge',
    entries: 'Einträge',
    attributes: 'Attribute',
    request: 'Anfrage',
    token: 'Token',
  },
  refused: 'abgelehnt',
  register: 'Tragen Sie diese Adressen beim Anbieter ein:',
  redirect: 'Weiterleitungsadresse',
  logout: 'Adresse für die Abmeldung (Back-Channel)',
  previewRun: 'Vorschau: was der erste Lauf ändern würde',
  removed: 'Entfernen',
  ends: {
    keys: 'Ausgabe: Das Geheimnis wird gelöscht. Das ist nicht möglich, solange Schlüssel dort Passkeys haben.',
    oidc: 'Anmeldung: Alle Sitzungen, die dort begonnen haben, enden. Ihre Konten bleiben, haben aber kein Passwort.',
    ldap: 'Verzeichnis: Es wird nicht mehr gelesen. Personen und ihre Schlüssel bleiben.',
    scim: 'SCIM: Das Token wird widerrufen. Personen bleiben, aber ausgeschiedene werden nicht mehr gemeldet.',
  },
  done: {
    create: name => `${name} wurde hinzugefügt. Testen Sie ihn vor der Benutzung.`,
    change: name => `${name} wurde geändert.`,
    secret: name => `Das Geheimnis von ${name} ist ersetzt. Testen Sie den Anbieter.`,
  },
  checked: part => `${part}: zuletzt geprüft`,
  accepts: name => `${name} nimmt Anfragen dieses Registers an.`,
  fails: (name, problem) => `${name} funktioniert nicht: ${problem}`,
  nameHint: 'Befehle und der Knopf der Anmeldung benutzen ihn. Was denselben Namen hat, ist ein Anbieter.',
  kept: 'Leer: Das gespeicherte bleibt.',
  field: {
    oidc: {
      issuer: 'Aussteller (Issuer), https://…',
      clientId: 'Client-ID',
      clientSecret: 'Client-Geheimnis',
      'roles.ADMIN': 'Gruppen der Administratoren',
      'roles.DEALER': 'Gruppen der Händler',
      'roles.VIEWER': 'Gruppen der Leser',
      holders: 'Personen in keiner dieser Gruppen melden sich an und sehen ihre eigenen Schlüssel',
      groupsClaim: 'Claim mit den Gruppen',
      scopes: 'Angeforderte Scopes',
      'strong.acr': 'acr von Anmeldungen mit Sicherheitsschlüssel',
      'strong.amr': 'amr von Anmeldungen mit Sicherheitsschlüssel',
      'localAccounts.from': 'Konten mit Passwort können sich anmelden von',
      'localAccounts.names': 'Die einzigen Konten mit Passwort, die sich anmelden können',
    },
    ldap: {
      url: 'Adresse, ldaps://HOST',
      base: 'Basis (DN) der Suche nach Personen',
      bindDn: 'Konto (DN), das das Verzeichnis liest',
      bindPassword: 'Passwort dieses Kontos',
      ca: 'Zertifikate des Servers (PEM)',
      groups: 'Gelesene Gruppen',
      filter: 'Filter für Personen',
      everyMinutes: 'Minuten zwischen zwei Läufen',
      fullEveryMinutes: 'Minuten zwischen zwei Läufen, die alle Einträge lesen',
      'attributes.userName': 'Attribut: Benutzername',
      'attributes.name': 'Attribut: voller Name',
      'attributes.email': 'Attribut: E-Mail-Adresse',
      'attributes.id': 'Attribut: ID, die sich nie ändert',
      'attributes.disabled': 'Attribut: deaktiviert',
      'attributes.groups': 'Attribut: Gruppen',
    },
  },
  hintOf: {
    oidc: {
      scopes: 'Einer je Zeile. Leer: die üblichen.',
      'localAccounts.names': 'Eines je Zeile. Leer: alle.',
    },
    ldap: {
      bindDn: 'Leer: Es wird ohne Anmeldung gelesen.',
      ca: 'Leer: die Zertifizierungsstellen von Node.js.',
      groups: 'Eine je Zeile: cn=staff,dc=example,dc=com, oder NAME=DN für einen anderen Namen hier.',
      filter: 'Leer: die übliche Klasse des Servers.',
    },
  },
  localFrom: { ANYWHERE: 'überall', LOOPBACK: 'dem Rechner des Dienstes' },
  networks: 'Das Token nur aus diesen Netzen annehmen',
  tokenOf: name => `Token von ${name}`,
  once: 'Kopieren Sie das Token jetzt: Es wird nicht noch einmal angezeigt. Tragen Sie es mit der Adresse beim Anbieter ein.',
  token: 'Token',
  scimAddress: 'Adresse',
  until: time => `Es kann Personen und Gruppen senden und sonst nichts. Gültig bis ${time}.`,
  address: {
    entra: 'Microsoft Graph einer nationalen Cloud',
    okta: 'Adresse der Organisation, https://…',
    webauthn: 'Adresse für Optionen, https://…',
    devmgr: 'Adresse dieser Konsole, https://…',
  },
  setting: {
    tenant: 'Mandant: ID oder Domain',
    clientId: 'Anwendungs-ID (Client)',
    loginAddress: 'Anmeldung einer nationalen Cloud',
    finishAddress: 'Adresse für die Antwort des Schlüssels, https://…',
    removeAddress: 'Adresse für das Entfernen, https://…',
    verification: 'pin: bei jeder Anmeldung auch die PIN verlangen',
  },
  secret: { entra: 'Client-Geheimnis', okta: 'API-Token', webauthn: 'Bearer-Token' },
  secretHint: 'Es gilt ab der nächsten Anfrage.',
  repair: 'Reparieren',
  agree: 'Register und Anbieter stimmen überein.',
  differing: { credential: 'Passkey', of: 'Gerät oder Konto', difference: 'Unterschied' },
  difference: {
    onlyHere: 'fehlt beim Anbieter: gilt dann als entfernt',
    other: 'gehört einer anderen Person: wird dort entfernt',
    onlyThere: 'nur beim Anbieter: wird dort entfernt',
    stays: 'nur beim Anbieter, nicht von diesem Register angelegt: bleibt',
  },
  repairs: count => `Reparieren ändert ${s(count, 'Passkey', 'Passkeys')}.`,
  repaired: (count, name) => `${s(count, 'Passkey', 'Passkeys')} bei ${name} repariert.`,
};

/** Forms of settings. */
export const settingsForm: typeof en.settingsForm = {
  further: 'Weitere Einstellungen',
  perLine: 'Ein Eintrag je Zeile.',
  changed:
    'Diese Einstellungen wurden geändert, seit die Seite sie gelesen hat. Nichts wurde gespeichert. Laden Sie die Seite neu, und ändern Sie sie dann.',
  refused: reason => `Abgelehnt: ${reason}`,
};

/** Credentials of a device at providers. */
export const firstDevice: typeof en.firstDevice = {
  purpose:
    'Noch keine Geräte. Legen Sie eines an, importieren Sie eine Datei oder stecken Sie Schlüssel an der Station ein.',
  file: 'Datei importieren',
  station: 'Zur Station',
};

export const credentials: typeof en.credentials = {
  title: 'Anmeldung bei Anbietern',
  none: 'Dieser Schlüssel ist bei keinem Anbieter ausgegeben. Um ihn auszugeben, stecken Sie ihn ein, und starten Sie devmgr keys issue.',
  column: { credential: 'Passkey', provider: 'Anbieter', made: 'Ausgegeben' },
  state: { valid: 'gültig', unfinished: 'nicht abgeschlossen', pending: 'noch zu entfernen', removed: 'entfernt' },
  ask: {
    remove:
      'Die Person kann sich beim Anbieter nicht mehr mit diesem Schlüssel anmelden. Danach muss er neu ausgegeben werden.',
  },
  done: { remove: name => `${name} ist beim Anbieter entfernt.` },
};

export const station: typeof en.station = {
  intro:
    'Person wählen, Schlüssel einstecken, Schlüssel abziehen: Der Schlüssel wird registriert und für die Person aktiviert.',
  sound: 'Ton',
  notAllowed:
    'Mit Ihrer Rolle können Sie diese Seite ansehen, aber keine Schlüssel aufnehmen. Ein Administrator kann Ihnen die Rolle Händler geben.',
  elsewhere: {
    none: 'Dieser Dienst sucht keine Schlüssel: Er wurde mit der Rolle registry gestartet.',
    unavailable: 'Dieser Dienst kann auf seinem Rechner keine Schlüssel finden:',
    command: 'Um Schlüssel aufzunehmen, die an einer Station eingesteckt sind, benutzen Sie dort die Befehlszeile:',
    again: 'Erneut prüfen',
  },
  call: {
    roster: 'Benutzername oder voller Name',
    open: 'Benutzername der Person',
    submit: 'Aufrufen',
    hint: 'Geben Sie sie ein, oder scannen Sie einen Ausweis.',
  },
  stage: {
    label: 'Schlüssel und Person',
    unnamed: 'Ausweis scannen oder Person eingeben',
    all: 'Alle Personen der Liste haben ihre Schlüssel',
    keyOf: (number, all) => `Schlüssel ${grouped(number)} von ${grouped(all)}`,
    emptyOpen: 'Stecken Sie dann den Schlüssel ein.',
    wait: 'WARTEN',
    asideOpen:
      'Ein Schlüssel ist eingesteckt. Scannen Sie den Ausweis der Person, oder geben Sie den Benutzernamen ein.',
    bind: 'Binden (Enter)',
    undo: 'Rückgängig (Esc)',
    skip: 'Person überspringen',
    redo: 'Zurück zur letzten Person',
    ignore: 'Nicht beachten',
    ignoreKey: key => `Nicht beachten: ${key}`,
    printed: 'Nummer, die auf dem Schlüssel steht',
    printedAgain: 'Dieselbe Nummer noch einmal',
    usePrinted: 'Diese Nummer verwenden',
    ignored: count => `Unbeachtet bis zum Abziehen: ${grouped(count)}`,
    unreadable: 'Schlüssel ohne lesbare Seriennummer',
    unregistered: 'nicht registriert',
    keys: 'Eingesteckte Schlüssel',
    simulated: 'simuliert',
    empty: person => `Stecken Sie einen Schlüssel für ${person} ein.`,
    checking: 'Der Schlüssel wird geprüft … Wenn er blinkt, berühren Sie ihn.',
    pass: 'GUT',
    readyToIssue: person =>
      `Drücken Sie Enter: Der Schlüssel wird an ${person} gebunden und ausgegeben. Lassen Sie ihn eingesteckt. Esc macht es rückgängig.`,
    ready: person =>
      `Ziehen Sie den Schlüssel ab, oder drücken Sie Enter: Er wird an ${person} gebunden. Esc macht es rückgängig.`,
    fail: 'FEHLER',
    still: person => `Es wurde nichts gebunden. ${person} braucht noch einen Schlüssel.`,
    committing: 'Wird gebunden …',
    issuing: 'Der Schlüssel wird ausgegeben … Lassen Sie ihn eingesteckt. Wenn er blinkt, berühren Sie ihn.',
    away: 'Der Dienst antwortet nicht. Die Bindung wird gesendet, sobald er antwortet, und nur einmal ausgeführt.',
    bound: 'GEBUNDEN',
    boundTo: (key, person) => `${key} ist an ${person} gebunden und aktiv.`,
    stop: 'HALT',
    crowded:
      'Zwei Schlüssel sind eingesteckt: Es wird nichts gebunden. Ziehen Sie beide ab, oder lassen Sie einen unbeachtet.',
    aside:
      'Ein Schlüssel ist eingesteckt, aber seine Person ist nicht bekannt. Stecken Sie ihn neu ein, oder scannen Sie einen Ausweis.',
    held: 'Es wird nichts gebunden, bis Sie einen gültigen Ausweis scannen oder Esc drücken.',
  },
  roster: {
    title: 'Liste der Personen',
    file: 'Liste der Personen',
    hint: 'Ein Export eines Verzeichnisses oder Personalsystems (CSV, .xlsx, JSON, LDIF), oder CSV mit userId, name, count, type und printedNumber. Die Datei wird in diesem Browser gelesen und nicht hochgeladen.',
    remove: 'Liste entfernen',
    unused: columns => `Ignorierte Spalten: ${columns.join(', ')}.`,
    gone: userIds => `Kein Schlüssel für Personen, die laut Datei ausgeschieden sind: ${userIds.join(', ')}.`,
    repeated: lines => `Zeilen, die eine frühere wiederholen: ${lines.map(grouped).join(', ')}.`,
    progress: (finished, all) => `${grouped(finished)} von ${grouped(all)} Zeilen erledigt`,
    skipped: count => `${grouped(count)} übersprungen`,
    waiting: 'Als Nächste',
    more: count => `und ${grouped(count)} weitere`,
  },
  check: { serial: 'Seriennummer', type: 'Art', free: 'Frei für die Person', proof: 'Nachweis' },
  passed: 'gut',
  failed: 'Fehler',
  code: 'Der Schlüssel ist registriert, aber nicht aktiv. Sein Aktivierungscode, nur hier gezeigt:',
  failure: {
    'serial number unreadable': 'Die Seriennummer ist nicht lesbar.',
    'wrong type': 'Die Person braucht einen Schlüssel anderer Art.',
    'counted before': 'Dieser Schlüssel wurde hier schon gebunden. Nehmen Sie einen anderen.',
    'bound to another person': 'Dieser Schlüssel ist schon registriert und an eine andere Person gebunden.',
    LOCKED: 'Dieser Schlüssel ist schon registriert und gesperrt.',
    DEACTIVATED: 'Dieser Schlüssel ist schon registriert und stillgelegt.',
    'pulled too early': 'Der Schlüssel wurde abgezogen, bevor seine Prüfung beendet war. Stecken Sie ihn wieder ein.',
    refused: 'Das Register lehnt den Schlüssel ab.',
    'not issued':
      'Der Schlüssel ist gebunden, aber noch nicht bei jedem Anbieter ausgegeben. Stecken Sie ihn wieder ein.',
    'not signed': 'Der Schlüssel ist gebunden, hat aber seinen Beleg noch nicht signiert. Stecken Sie ihn wieder ein.',
    proof: 'Der Schlüssel weist nicht nach, was das Register verlangt:',
    'no answer': 'Der Dienst antwortet nicht.',
    'has another key':
      'Diese Person hat schon einen Schlüssel. Stecken Sie ihn ein, oder drücken Sie r für einen weiteren:',
  },
  said: {
    'two keys': 'Zwei neue Schlüssel zugleich: Es wird nichts gebunden.',
    undone: 'Rückgängig gemacht: Es wurde nichts geschrieben. Ziehen Sie den Schlüssel ab.',
    skipped: 'Übersprungen. Um zu dieser Person zurückzukehren, scannen Sie den Ausweis.',
    redo: 'Zurück zur letzten Person. Ziehen Sie den Schlüssel ab.',
    'redo of a binding': 'Zurück zur letzten Person, für einen weiteren Schlüssel. Der erste bleibt gebunden.',
    'another key': 'Ein weiterer Schlüssel für diese Person. Was sie hat, bleibt gebunden.',
    'nothing to redo':
      'Nur die letzte Person kann wiederholt werden, und nur bevor der nächste Schlüssel gebunden ist.',
    'nothing to confirm': 'Nichts zu bestätigen: Kein Schlüssel hat die Prüfung bestanden.',
    'nothing confirmed yet':
      'Enter wurde gleich nach einer anderen Taste gedrückt: Es wird nichts gebunden. Drücken Sie Enter noch einmal.',
    'nothing to undo': 'Eine Bindung kann hier nicht rückgängig gemacht werden.',
    badge: 'Ausweis erkannt.',
    'badge incomplete': 'Der Scan war unvollständig: Scannen Sie den Ausweis noch einmal.',
    'unplugged during a scan':
      'Der Schlüssel wurde während eines Scans abgezogen: Es wird nichts gebunden. Stecken Sie ihn neu ein.',
    'badge unknown': 'Keine Person hat diesen Benutzernamen oder vollen Namen.',
    'badge of several': 'Mehrere Personen der Liste heißen so: Scannen Sie einen Benutzernamen.',
    'badge of a person who is done': 'Diese Person hat schon alle Schlüssel der Liste.',
    lost: 'Die Verbindung war unterbrochen: Es wird nichts gebunden. Stecken Sie den Schlüssel neu ein.',
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

export const stationIssue: typeof en.stationIssue = {
  title: 'Schlüssel ausgeben',
  hint: 'Nach dem Binden wird der Schlüssel bei jedem hier gewählten Anbieter für seine Person ausgegeben. Lassen Sie ihn bis dahin eingesteckt.',
  providers: 'Anbieter',
  pin: 'PIN',
  pins: { ask: 'Ein Schlüssel ohne PIN erhält eine', none: 'Ein Schlüssel ohne PIN bleibt ohne PIN' },
  pinOf: key => `PIN von ${key}`,
  newPin: key => `Erste PIN von ${key}`,
  left: count => `Verbleibende Versuche: ${grouped(count)}`,
  none: 'Dieser Schlüssel hat noch keine PIN. Das Register speichert die PIN nicht.',
  again: 'PIN wiederholen',
  differs: 'Die PINs stimmen nicht überein.',
  use: 'Diese PIN verwenden',
  unplugged: 'Der Schlüssel wurde abgezogen.',
  noPin: 'Es wurde keine PIN eingegeben.',
  problem: {
    'pin-change': 'Die Person muss zuerst die PIN ändern.',
    'pin-present': 'Der Schlüssel hat schon eine PIN.',
    'pin-unfit': 'Der Schlüssel nimmt diese PIN nicht an.',
    excluded: 'Der Schlüssel hat beim Anbieter schon einen Passkey dieser Person: Entfernen Sie ihn dort.',
    full: 'Der Schlüssel hat keinen Platz für einen weiteren Passkey: Entfernen Sie einen, oder nehmen Sie einen anderen Schlüssel.',
    'no-credential': 'Der Schlüssel hat diesen Passkey nicht.',
    'not-allowed': 'Der Schlüssel lässt das jetzt nicht zu.',
    'pin-blocked': 'Die PIN des Schlüssels ist gesperrt: Nur ein Zurücksetzen hebt das auf.',
    'pin-invalid': 'Die PIN ist falsch. Nach zu vielen falschen Versuchen sperrt der Schlüssel seine PIN.',
    'pin-not-set': 'Der Anbieter verlangt eine PIN, und der Schlüssel hat keine.',
    'pin-policy': 'Der Schlüssel nimmt diese PIN nicht an.',
    'pin-replug': 'Stecken Sie den Schlüssel neu ein, bevor Sie die PIN eingeben.',
    'pin-required': 'Der Schlüssel verlangt seine PIN.',
    unavailable: 'Der Schlüssel kann das nicht.',
    'no-permission': 'Der Dienst darf den Schlüssel nicht öffnen.',
    removed: 'Der Schlüssel wurde abgezogen.',
    busy: 'Der Schlüssel wird gerade verwendet.',
    mute: 'Der Schlüssel antwortet nicht.',
    timeout: 'Der Schlüssel hat nicht rechtzeitig geantwortet oder wurde nicht berührt.',
    aborted: 'Der Vorgang wurde abgebrochen.',
    protocol: 'Der Schlüssel hat nicht wie erwartet geantwortet.',
  },
  unfit: {
    short: least => `Die PIN dieses Schlüssels hat mindestens ${grouped(least)} Zeichen.`,
    long: most => `Eine PIN hat höchstens ${grouped(most)} Byte.`,
  },
};

/** Why a file is not a roster. */
export const rosterFaults: typeof en.rosterFaults = {
  /** Fault of the file, or of the line that it names. */
  of: {
    ...fileFaults,
    'no rows': 'Die Datei enthält nach den Namen der Spalten keine Personen.',
    'columns absent': 'Der Datei fehlt eine Spalte.',
    'fields missing': ({ rejected: [column] }) =>
      column === undefined
        ? 'Keine Spalte enthält die Benutzernamen. Nennen Sie sie in der Datei userId.'
        : `Die Spalte ${column.column} enthält IDs eines Systems, keine Benutzernamen. Nennen Sie die Spalte der Benutzernamen userId.`,
    'column twice': ({ column, columns }) =>
      `Zwei Spalten können ${column} sein: ${columns.join(', ')}. Benennen Sie eine davon um.`,
    foreign: ({ kind }) => foreignFiles[kind],
    unread: ({ problem }) => problem,
    userId: ({ text }) => (text === '' ? 'userId ist leer' : `${text} ist keine gültige userId`),
    name: `name hat mehr als ${rosterBounds.name} Zeichen`,
    type: 'type muss UKEY oder SIMKEY sein',
    count: `count muss eine ganze Zahl von 1 bis ${rosterBounds.keys} sein`,
    printedNumber:
      'printedNumber muss die Nummer eines einzigen Schlüssels sein: eine gültige Seriennummer, mit count 1',
    'person twice': ({ earlier, userId }) => `${userId} steht schon in Zeile ${earlier}`,
    lines: () => `eine Liste hat höchstens ${grouped(rosterBounds.lines)} Zeilen`,
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
  title: 'Suchen',
  hint: 'ID, Seriennummer, Person, Modell, Merkmal, Seite oder Befehl',
  none: 'Kein Gerät hat diese Wörter.',
  target: action => `${action}: welches Gerät? ID, Seriennummer oder Person`,
  group: {
    recent: 'Zuletzt',
    persons: 'Personen',
    records: 'Lose, Stationen und Konten',
    lists: 'Listen',
    commands: 'Befehle',
  },
  kind: { lot: 'Los', station: 'Station', account: 'Konto' },
  containing: part => `Geräte mit „${part}“`,
  ofUser: name => `Geräte der Person ${name}`,
  withTag: tag => `Geräte mit dem Merkmal ${tag}`,
  keys: 'Tastenkürzel',
  list: modifier => [
    [`${modifier}K  /`, 'Gerät, Person, Merkmal, Seite oder Befehl finden'],
    ['?', 'Diese Liste anzeigen'],
    ['j  k', 'Nächstes und voriges Gerät der Liste'],
    ['x', 'Gerät auswählen'],
    ['Leertaste', 'Gerät neben der Liste anzeigen; ↓ ↑ zeigen die anderen'],
    ['Enter', 'Gerät öffnen'],
    ['Alt T', 'Zu den Meldungen am Rand des Fensters'],
    ['Esc', 'Schließen, was im Vordergrund ist'],
  ],
};

/** A secret that is shown once. */
export const secretOnce: typeof en.secretOnce = {
  askClose: 'Es wurde nicht kopiert. Nach dem Schließen dieses Dialogs kann es nicht mehr angezeigt werden.',
  keepOpen: 'Offen lassen',
  closeUncopied: 'Schließen, ohne zu kopieren',
};
