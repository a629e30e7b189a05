type NamesOf<Text extends string, Found extends readonly string[] = []> = Text extends `${infer Name} ${infer Others}`
  ? NamesOf<Others, [...Found, Name]>
  : readonly [...Found, Text];

/** The names in a text, which has one space between two of them. */
export const namesIn = <const Text extends string>(text: Text) => text.split(' ') as unknown as NamesOf<Text>;
