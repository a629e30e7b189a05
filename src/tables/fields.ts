/**
 * The dictionary: which names of columns stand for which field, in the words of people in six languages (EN, DE, FR, ES, PT, IT) and of the
 * systems that write files. A set of fields is data: an import of persons reads a file for other fields than one of devices.
 */
import { type DescribedText, describedNames, describedTexts } from '../contract/device-description.ts';
import { deviceTypes } from '../contract/values.ts';
import type { RangeField } from './ranges.ts';
import { withoutParts } from './text.ts';
import { isOpaqueId } from './values.ts';

/** One field that rows are read for. */
export interface FieldRule<Field extends string = string> {
  readonly field: Field;
  /**
   * Names of its columns as `nameKey` writes them, in tiers: a column of an earlier tier counts, those of later ones are doubtful. Two
   * columns of one tier are asked about. The name of the field itself is of the first tier.
   */
  readonly words: readonly (readonly string[])[];
  /** Names that mean the field only if at least one of the first values fits: `type` of a key, or of a house. */
  readonly weak?: readonly string[];
  /** Whether a value can be one of this field. A column with none of them is not read for it, unless a person chooses it. */
  readonly fits?: (text: string, column: string) => boolean;
  /** Whether `fits` judges the column whatever its name is. */
  readonly isJudged?: true;
  /** A field whose column is read as well if this one has none. */
  readonly instead?: string;
  /** Every column with such a name is read: the value has the name and the text of each. */
  readonly isEvery?: true;
  /** Only properties of objects can hold it. */
  readonly ofObjects?: true;
}

/** The fields of an import. */
export type FieldSet<Field extends string> = readonly FieldRule<Field>[];

/** Longest name that is compared. */
const LONGEST_NAME = 200;

/** A name as names are compared: without case, accents, punctuation, spaces and remarks in brackets. */
export function nameKey(name: string): string {
  const whole = name.slice(0, LONGEST_NAME);
  return keyOf(withoutParts(whole, { '(': ')', '[': ']' })) || keyOf(whole);
}

const keyOf = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/** Names that are written as one word, separated by spaces. */
const words = (text: string): readonly string[] => text.split(/\s+/).filter(Boolean);

const serial =
  words(`serial serialno serialnum serialnr serialnumbers serials sn hardwareserial hardwareserialnumber deviceserial deviceserialnumber
  yubikeyserial yubikeyserialnumber tokenserial tokenserialnumber itemserial seriennummer seriennr serienr geratenummer geraetenummer numerodeserie numserie nserie
  node serie nodeserie nroserie nrodeserie nds numerodiserie numeroseriale seriale matricola numeroserie barcode`);
const card = words('iccid simiccid iccidnumber simnumber simserial simserialnumber simcardnumber');

/** A type of device as a person or a spreadsheet writes it. */
const isDeviceType = (text: string): boolean => deviceTypes.some(type => type === text.trim().toUpperCase());

/** Fields of a registration, except tags, which have columns of their own. */
export type DeviceField = 'deviceType' | RangeField | DescribedText | 'proofId' | 'tags' | 'userId';

const logins =
  words(`username login loginname logonname loginid benutzername benutzerkennung anmeldename kennung benutzer identifiant
  nomdutilisateur utilisateur usuario nombredeusuario utilizador nomedeutilizador nomedeusuario nomeutente utente user account accountname`);
const principals = words('userprincipalname upn principalname');
const directoryNames = words('samaccountname uid userlogin');
const addresses =
  words(`email mail emailaddress workemail primaryemail emailwork businessemail workemailaddress useremail emailadresse
  mailadresse adressemail adresseemail courriel adressedemessagerie correo correoelectronico direcciondecorreo enderecodeemail
  indirizzoemail postaelettronica`);

/** Whether a text can be the login of a person. */
const isLogin = (text: string, column: string): boolean => !isOpaqueId(text, column);

/** A shipment: the first and the last serial number, and how many these are. */
const rangeFields = [
  {
    field: 'firstSerial',
    words: [
      words(`firstserialnumber startserial startserialnumber serialfrom serialnumberfrom fromserial fromserialnumber serialstart
      ersteseriennummer seriennummervon premiernumerodeserie primernumerodeserie primeironumerodeserie primonumerodiserie`),
    ],
  },
  {
    field: 'lastSerial',
    words: [
      words(`lastserialnumber endserial endserialnumber serialto serialnumberto toserial toserialnumber serialend letzteseriennummer
      seriennummerbis derniernumerodeserie ultimonumerodeserie ultimonumerodiserie`),
    ],
  },
  {
    field: 'count',
    words: words('qty quantity anzahl menge stuck quantite cantidad quantidade quantita').map(word => [word]),
  },
] as const satisfies FieldSet<RangeField>;

/** `register --file` and the import of the console. */
export const deviceFields: FieldSet<DeviceField> = [
  {
    field: 'deviceType',
    words: [],
    weak: words('type kind keytype typ art geratetyp tipo tipodedispositivo tipologia'),
    fits: isDeviceType,
  },
  { field: 'serialNumber', words: [serial, card, words('eid eidnumber euiccid')], instead: 'firstSerial' },
  ...rangeFields,
  ...describedNames.map(field => ({ field, words: [words(describedTexts[field].columns)] })),
  { field: 'proofId', words: [] },
  { field: 'tags', words: [], ofObjects: true },
];

/** The person who has a key. */
const holderField: FieldRule<'userId'> = {
  field: 'userId',
  words: [
    words(
      'holder owner assignedto assigneduser checkedoutto checkedout usedby inhaber besitzer zugewiesenan attribuea asignadoa atribuidoa assegnatoa',
    ),
    logins,
    principals,
    directoryNames,
    addresses,
  ],
  fits: isLogin,
  isJudged: true,
};

/** `register --file --activate`. */
export const boundFields: FieldSet<DeviceField> = [...deviceFields, holderField];

/** Fields of a list of devices: `lock --file`, `activate --file`, `label --file`. */
export type ListField = 'deviceId' | 'serialNumber' | 'activationCode' | 'userId' | 'result' | 'name';

/** Lists of devices, and results of enrollments. */
export const listFields: FieldSet<ListField> = [
  { field: 'deviceId', words: [words('device')] },
  { field: 'serialNumber', words: [serial, card] },
  { field: 'activationCode', words: [words('aktivierungscode')] },
  { field: 'userId', words: [logins, principals, directoryNames] },
  { field: 'result', words: [] },
  { field: 'name', words: [] },
];

/** Fields of persons. */
export type PersonField =
  | 'userId'
  | 'name'
  | 'givenName'
  | 'familyName'
  | 'email'
  | 'status'
  | 'count'
  | 'type'
  | 'printedNumber';

/** Each name a tier of its own, after the name of the field: a file may have several of them, and none has to be asked about. */
const inOrder = (text: string): readonly (readonly string[])[] => [[], ...words(text).map(word => [word])];

/** Rosters and imports of persons. */
export const personFields: FieldSet<PersonField> = [
  {
    field: 'userId',
    words: [logins, principals, ...inOrder(directoryNames.join(' '))],
    fits: isLogin,
    isJudged: true,
    instead: 'email',
  },
  {
    field: 'name',
    words:
      inOrder(`displayname fullname lastnamefirstname nachnamevorname nomprenom employeename personname anzeigename vollstandigername vollername
      nomcomplet nomaffiche nombrecompleto nombreparamostrar nomecompleto nomedeexibicao nomevisualizzato nominativo commonname cn`),
  },
  {
    field: 'givenName',
    words: inOrder('firstname givennames preferredfirstname forename vorname prenom nombre primeironome nome prenome'),
  },
  {
    field: 'familyName',
    words: inOrder(
      'lastname surname familyname sn nachname familienname nom nomdefamille apellido apellidos sobrenome apelido ultimonome cognome',
    ),
  },
  { field: 'email', words: inOrder(addresses.join(' ')) },
  {
    field: 'status',
    isEvery: true,
    words:
      inOrder(`accountstatus userstatus employmentstatus employeestatus status accountenabled accountdisabled enabled suspended disabled
      blockcredential terminated useraccountcontrol nsaccountlock logindisabled isactive active inactive state archived deleted isdeleted
      statut estado stato zustand kontostatus gesperrt deaktiviert ausgeschieden inaktiv aktiv actif activo ativo attivo`),
  },
  { field: 'count', words: inOrder('keys quantity qty anzahl nombredecles cantidad quantidade quantita') },
  { field: 'type', words: [], weak: words('devicetype keytype'), fits: isDeviceType },
  // Exports have serial numbers of keys that a person had before: only its own name means it.
  { field: 'printedNumber', words: [] },
];

/** A value of a field with `isEvery`: names of columns with their values. */
export type ColumnValues = readonly (readonly [column: string, value: unknown])[];

/** The meaning of a name: a field, and how sure that is. A lower rank is surer. */
export interface Meaning<Field extends string> {
  readonly field: Field;
  readonly rank: number;
  /** It is the name of the field itself. */
  readonly isOwn: boolean;
  readonly isWeak: boolean;
}

const dictionaries = new WeakMap<FieldSet<string>, ReadonlyMap<string, readonly Meaning<string>[]>>();

/** Possible meanings of the name of a column. */
export function meaningsOf<Field extends string>(fields: FieldSet<Field>, name: string): readonly Meaning<Field>[] {
  const known = dictionaries.get(fields) ?? dictionaryOf(fields);
  dictionaries.set(fields, known);
  return (known.get(nameKey(name)) ?? []) as readonly Meaning<Field>[];
}

function dictionaryOf(fields: FieldSet<string>): ReadonlyMap<string, readonly Meaning<string>[]> {
  const known = new Map<string, Meaning<string>[]>();
  const add = (key: string, meaning: Meaning<string>) => {
    const others = known.get(key) ?? [];
    if (!others.some(({ field }) => field === meaning.field)) known.set(key, [...others, meaning]);
  };
  for (const { field } of fields) add(nameKey(field), { field, rank: 0, isOwn: true, isWeak: false });
  for (const { field, words: tiers, weak = [] } of fields) {
    for (const [rank, tier] of tiers.entries())
      for (const word of tier) add(word, { field, rank, isOwn: false, isWeak: false });
    for (const word of weak) add(word, { field, rank: tiers.length, isOwn: false, isWeak: true });
  }
  return known;
}

/** The index of the column that a person names: by its exact name, else by the way in which names are compared; -1 if none. */
export function columnNamed(names: readonly string[], name: string): number {
  const exact = names.findIndex(each => each.trim() === name.trim());
  return exact >= 0 ? exact : names.findIndex(each => nameKey(each) === nameKey(name));
}
