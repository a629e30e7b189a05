/** Maps of columns that a person has saved by name: how the files of one system are read. */
import { usage } from '../fault.ts';
import { readConfig, type SavedMap, updateConfig } from './profiles.ts';

/** The saved map of this name. Throws a usage fault if there is none. */
export function savedMap(home: string, name: string, presets: readonly string[]): SavedMap {
  const { maps } = readConfig(home);
  if (Object.hasOwn(maps, name)) return maps[name]!;
  const known = [['presets', presets] as const, ['saved maps', Object.keys(maps)] as const].flatMap(([what, names]) =>
    names.length > 0 ? [`${what} are ${names.join(', ')}`] : [],
  );
  throw usage(
    `--map "${name}" is not ${presets.length > 0 ? 'a preset or a saved map' : 'a saved map'}`,
    [...known, 'to name columns: --map FIELD=COLUMN,…'].join('; '),
  );
}

/** The saved maps, by name. */
export const savedMaps = (home: string): Readonly<Record<string, SavedMap>> => readConfig(home).maps;

/** Saves a map, or removes it if it is null. */
export const storeMap = (home: string, name: string, saved: SavedMap | null): Promise<void> =>
  updateConfig(home, config => {
    const { [name]: _, ...others } = config.maps;
    return { ...config, maps: saved === null ? others : { ...others, [name]: saved } };
  });
