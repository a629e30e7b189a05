/** The flags and variables of the settings of the daemon, with their words. Plain data, without schemas. */
import { daemonSettings, type SettingRow } from './daemon-settings.ts';

/** An environment variable of the daemon. */
interface SettingVariable {
  readonly name: string;
  readonly words: string;
  readonly isSecret: boolean;
}

/** Name of the flag of a setting, without the dashes. */
export const flagName = (key: string, { default: byDefault }: SettingRow): string =>
  `${byDefault === true ? 'no-' : ''}${key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;

/** Default of a setting, for people. */
const whenUnset = ({ default: byDefault, choices, otherwise }: SettingRow) => otherwise ?? byDefault ?? choices?.[0];

/** Text of the help of a flag. */
export const flagHelp = (row: SettingRow): string => row.help!.replace('%', String(whenUnset(row)));

/** The variables with their meaning, in the order of the table. */
export const settingVariables = (): readonly SettingVariable[] =>
  Object.entries<SettingRow | Readonly<Record<string, SettingRow>>>(daemonSettings).flatMap(([key, row]) =>
    isRow(row) ? variableOf(key, row) : Object.values(row).flatMap(each => variableOf(key, each)),
  );

const isRow = (row: SettingRow | Readonly<Record<string, SettingRow>>): row is SettingRow =>
  'help' in row || 'variable' in row;

function variableOf(key: string, row: SettingRow): SettingVariable[] {
  const { variable: name, words = '', help, isSecret = false } = row;
  if (name === undefined) return [];
  const unset = whenUnset(row);
  const overridden = help ? `${words}; --${flagName(key, row)} overrides it` : words;
  const text = unset === undefined || words.includes('%') ? overridden : `${overridden} (%)`;
  return [{ name, words: text.replace('%', String(unset)), isSecret }];
}
