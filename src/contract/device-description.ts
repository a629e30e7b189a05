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
  /** Whether it never changes after the registration: the digest of a device covers it. */
  readonly isFixed: boolean;
  readonly example: string;
}

/** The texts, in the order in which they are shown. */
export const describedTexts = {
  manufacturer: {
    label: 'manufacturer',
    max: textLengths.manufacturer,
    isRequired: true,
    isFixed: true,
    example: 'Feitian',
  },
  model: {
    label: 'model',
    max: textLengths.model,
    isRequired: true,
    isFixed: true,
    example: 'ePass K9',
  },
  hardwareVersion: {
    label: 'hardware version',
    max: textLengths.version,
    isRequired: false,
    isFixed: true,
    example: '2.1',
  },
  firmwareVersion: {
    label: 'firmware version',
    max: textLengths.version,
    isRequired: false,
    isFixed: false,
    example: '1.0.3',
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
type FixedText = NamesOf<{ readonly isFixed: true }>;
/** Texts that never change after the registration. */
export const fixedTexts = describedNames.filter((name): name is FixedText => describedTexts[name].isFixed);

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
  readonly [N in DescribedText]: Exclude<D[N], undefined> | (undefined extends D[N] ? null : never);
};

/** The texts of a registration, a record or a key; one that is absent is null. No loop: it would take 1 % of a registration (measured). */
export const descriptionOf = <D extends PartialTexts>(given: D): DescribedTexts<D> =>
  ({
    manufacturer: given.manufacturer ?? null,
    model: given.model ?? null,
    hardwareVersion: given.hardwareVersion ?? null,
    firmwareVersion: given.firmwareVersion ?? null,
  }) satisfies Record<DescribedText, string | null> as DescribedTexts<D>;

/** The texts that never change, a line each. */
export const fixedLines = ({ manufacturer, model, hardwareVersion }: Pick<DeviceDescription, FixedText>): string =>
  `${manufacturer}\n${model}\n${hardwareVersion ?? ''}`;
