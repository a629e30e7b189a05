/**
 * Rehearsed sessions: a block ```` ```console rehearsed ```` has the commands of a person after `$ `, what the terminal shows, and,
 * after `# `, what the person does during the command, such as `# plug in key 1: the remark for the reader`. Each is done when the line
 * above it is on the screen.
 */
import { lasting, tidy } from '../../scripts/docs/recordings.ts';
import { ctrl, ESC, keys, type Screen } from '../cli/screen.ts';
import { blocksOf } from './shell.ts';

/** A step of the person, and the output after it. Null is the command itself. */
interface Part {
  readonly does: string | null;
  readonly shown: readonly string[];
}

/** A command, and what happens until it has ended. */
export interface Scene {
  readonly command: string;
  readonly parts: readonly Part[];
}

/** The surroundings of the person: keys, by number, and the registry, which can be away. */
export interface Hand {
  plugIn(key: number): Promise<void>;
  unplug(key: number): Promise<void>;
  registry(is: 'away' | 'back'): Promise<void>;
}

const opening = '```console rehearsed';

/** The scenes of all blocks of a page. */
export const scenesOf = (page: string): Scene[] =>
  blocksOf(page, opening.slice(3)).flatMap(({ code }) => scenesIn(code.split('\n')));

function scenesIn(lines: readonly string[]): Scene[] {
  const scenes: { command: string; parts: { shown: string[]; does: string | null }[] }[] = [];
  for (const line of lines) {
    const parts = scenes.at(-1)?.parts;
    if (line.startsWith('$ ')) scenes.push({ command: line.slice(2), parts: [{ shown: [], does: null }] });
    else if (line.startsWith('# ')) parts?.push({ shown: [], does: line.slice(2) });
    else parts?.at(-1)?.shown.push(line);
  }
  return scenes;
}

/** The page with what its scenes have shown, if that tells something else. What the person does stays below the line that it follows. */
export function rewritten(page: string, shown: readonly string[]): string {
  const lines: string[] = [];
  const blocks = page.split(`${opening}\n`);
  let next = 0;
  for (const [index, block] of blocks.entries()) {
    const end = index === 0 ? 0 : block.indexOf('```');
    const scenes = scenesIn(block.slice(0, end).trimEnd().split('\n'));
    if (index > 0) lines.push(opening, ...scenes.flatMap(scene => staged(scene, shown[next++]!)));
    lines.push(block.slice(end).replace(/\n$/, ''));
  }
  return `${lines.join('\n')}\n`;
}

function staged(scene: Scene, shown: string): string[] {
  const rest = lasting(shown) === textOf(scene) ? scene.parts.flatMap(part => part.shown) : shown.split('\n');
  const lines = [`$ ${scene.command}`];
  for (const [index, { shown: before }] of scene.parts.entries()) {
    const next = scene.parts[index + 1];
    const last = before.findLast(text => text !== '');
    if (next === undefined) lines.push(...rest);
    else {
      const cut = last === undefined ? 0 : rest.findIndex(text => lasting(text) === lasting(last)) + 1;
      lines.push(...rest.splice(0, cut), `# ${next.does}`);
    }
  }
  return lines;
}

/** Plays a scene: the text that the terminal has shown. */
export async function played({ parts }: Scene, screen: Screen, hand: Hand): Promise<string> {
  for (const [index, { does }] of parts.entries()) {
    if (does === null) continue;
    const last = parts[index - 1]!.shown.findLast(text => text !== '');
    if (last !== undefined) await screen.shows(cue(last));
    await done(does, screen, hand);
  }
  return tidy((await screen.ended).stdout);
}

/** The text of a scene without what the person does. */
export const textOf = ({ parts }: Scene): string => lasting(parts.flatMap(({ shown }) => shown).join('\n'));

/** Matches a line, whatever its numbers are. */
const cue = (line: string): RegExp =>
  new RegExp(`${line.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/\d[\d,]*/g, '[\\d,]+')}\\r*\\n`);

const pressed: Readonly<Record<string, string>> = { Enter: keys.enter, Esc: ESC, 'Ctrl-C': ctrl.c, s: 's', r: 'r' };

async function done(what: string, screen: Screen, hand: Hand): Promise<void> {
  const [, act, object] = /^(plug in key|unplug key|press|scan|the registry is) ([^:]+)/.exec(what) ?? [];
  if (act === 'plug in key') await hand.plugIn(Number(object));
  else if (act === 'unplug key') await hand.unplug(Number(object));
  else if (act === 'scan') screen.type(`${object}${keys.enter}`);
  else if (act === 'the registry is' && (object === 'away' || object === 'back')) await hand.registry(object);
  else if (act === 'press' && object! in pressed) screen.type(pressed[object!]!);
  else throw new Error(`no one can do this: ${what}`);
}
