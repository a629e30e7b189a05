/**
 * The texts that describe a device. A registration has them, a key reports them if it can, and the details show them: records,
 * requests, reports, cards and columns are made from this description. Plain data, without schemas.
 */
import { textLengths } from './limits.ts';

interface TextDescription {
  /** Name for people. */
  readonly label: string;
  /** Most characters. */
  readonly max: number;
  /** Whether every registration has it. */
  readonly isRequired: boolean;
  /**
   * Absent: it can change. Otherwise it never changes after the registration, and is a line in the digest of a device. A new one has its
   * name before it, and a line only if it has a value: the digests of devices without it are in the journals.
   */
  readonly fixed?: 'line' | 'named line';
  /** Names of its columns in files, beside its own, as `nameKey` writes them. */
  readonly columns: string;
  /** The flag of a text that a registration may lack, named like it: the name of its value, and other names. */
  readonly flag?: { readonly value: string; readonly aliases?: readonly string[] };
  readonly example: string;
}

/** The texts, in the order in which they are shown. */
export const describedTexts = {
  manufacturer: {
    label: 'manufacturer',
    max: textLengths.manufacturer,
    isRequired: true,
    fixed: 'line',
    example: 'Feitian',
    columns: `vendor maker brand make manufacturername vendorname hardwarevendor devicevendor devicemanufacturer
      modelmanufacturer supplier hersteller herstellername marke fabrikat lieferant fabricant marque
      constructeur fabricante marca proveedor fabbricante produttore costruttore fornitore`,
  },
  model: {
    label: 'model',
    max: textLengths.model,
    isRequired: true,
    fixed: 'line',
    example: 'ePass K9',
    columns: `devicemodel modelname product productname hardwaremodel assetmodel yubikeymodel modell modellname produkt
      produktname geratemodell modele produit modelo produto producto modello prodotto`,
  },
  hardwareVersion: {
    label: 'hardware version',
    max: textLengths.version,
    isRequired: false,
    fixed: 'line',
    example: '2.1',
    columns: 'hardware hwversion hw hardwarerevision',
    flag: { value: 'VERSION' },
  },
  firmwareVersion: {
    label: 'firmware version',
    max: textLengths.version,
    isRequired: false,
    example: '1.0.3',
    columns: 'firmware fwversion fw firmwareversionnumber',
    flag: { value: 'VERSION', aliases: ['firmware'] },
  },
} as const satisfies Readonly<Record<string, TextDescription>>;

type Texts = typeof describedTexts;
/** Name of one of the texts. */
export type DescribedText = keyof Texts;
type NamesOf<D> = { [N in DescribedText]: Texts[N] extends D ? N : never }[DescribedText];
/** Texts that every registration has. */
type RequiredText = NamesOf<{ readonly isRequired: true }>;
/** Texts that a registration may lack. */
export type OptionalText = Exclude<DescribedText, RequiredText>;
/** Description of a device. */
export type DeviceDescription = Readonly<Record<RequiredText, string> & Record<OptionalText, string | null>>;

/** The names, in the order of the description. */
export const describedNames = Object.keys(describedTexts) as DescribedText[];
const isOptional = (name: DescribedText): name is OptionalText => !describedTexts[name].isRequired;
/** Values of `OptionalText`. */
export const optionalTexts = describedNames.filter(isOptional);
type FixedText = NamesOf<{ readonly fixed: string }>;
/** Texts that never change after the registration. */
export const fixedTexts = describedNames.filter((name): name is FixedText => 'fixed' in describedTexts[name]);

/** A value for each of the texts. */
export const forEachText = <V>(create: (description: TextDescription, name: DescribedText) => V) =>
  Object.fromEntries(describedNames.map(name => [name, create(describedTexts[name], name)])) as Record<
    DescribedText,
    V
  >;

/** Nothing is known of what a key is. */
export const undescribed = forEachText(() => null);

type PartialTexts = { readonly [N in DescribedText]?: string | null | undefined };
type DescribedTexts<D extends PartialTexts> = {
  readonly [N in DescribedText]: N extends keyof D
    ? Exclude<D[N], undefined> | (undefined extends D[N] ? null : never)
    : null;
};

/** The texts of a registration, a record or a key; one that is absent is null. No loop: it would take 1 % of a registration (measured). */
export const descriptionOf = <D extends PartialTexts>(given: D): DescribedTexts<D> =>
  ({
    manufacturer: given.manufacturer ?? null,
    model: given.model ?? null,
    hardwareVersion: given.hardwareVersion ?? null,
    firmwareVersion: given.firmwareVersion ?? null,
  }) satisfies Record<DescribedText, string | null> as DescribedTexts<D>;

/** The lines of the texts that never change, each with a line break. */
export function fixedLines(device: Pick<DeviceDescription, FixedText>): string {
  let lines = '';
  for (const name of fixedTexts) {
    const text = device[name] ?? '';
    if (describedTexts[name].fixed === 'line') lines += `${text}\n`;
    else if (text) lines += `${name}\n${text}\n`;
  }
  return lines;
}
