import type { Machine, Ran } from './machine.ts';

const prompt = 'ada@station:~$ ';

/** A session of a user at a machine, with its output, kept for the documentation. */
export class Transcript {
  readonly #machine: Machine;
  #text = '';

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Types a line as the user ada and waits for its end. Throws where it fails and is not said to, or the other way round. */
  async type(line: string, { fails = false }: { readonly fails?: boolean } = {}): Promise<string> {
    this.#text += `${prompt}${line}\n`;
    const ran = await this.#machine.run('ada', line);
    const output = settled(ran);
    this.#text += output;
    if ((ran.code !== 0) !== fails) throw new Error(`${line} ended with ${ran.code}\n${output}`);
    return output;
  }

  /** Types a line and does something while it runs, as soon as `ready` resolves. */
  async typeWhile(line: string, ready: () => Promise<void>, note: string, act: () => Promise<void>): Promise<string> {
    const running = this.#machine.run('ada', line);
    await ready();
    await act();
    const ran = await running;
    const output = settled(ran);
    this.#text += `${prompt}${line}\n(${note})\n${output}`;
    if (ran.code !== 0) throw new Error(`${line} ended with ${ran.code}\n${output}`);
    return output;
  }

  /** Types a line in a second terminal; what it showed is put down when it is asked for, after its end. */
  elsewhere(line: string): () => Promise<string> {
    const running = this.#machine.run('ada', line);
    return async () => {
      const output = settled(await running);
      this.#text += `${prompt}${line}\n${output}`;
      return output;
    };
  }

  /** Words of ours between the lines, as Markdown. */
  heading(title: string, words: string): void {
    this.#text += `${this.#text === '' ? '' : '```\n\n'}## ${title}\n\n${words}\n\n\`\`\`text\n`;
  }

  toString(): string {
    return `${this.#text}\`\`\`\n`;
  }
}

/** The lines that were typed in a transcript, with what differs from run to run taken out. */
export function typedLines(transcript: string): string[] {
  return transcript
    .split('\n')
    .filter(line => line.startsWith(prompt))
    .map(line => line.replace(/--code \S+/, '--code CODE'));
}

/** As a terminal leaves it: of a line that was written over again and again, the last. */
function settled({ output }: Ran): string {
  const lines = output.replaceAll('\r\n', '\n').split('\n');
  const text = lines.map(line => line.slice(line.lastIndexOf('\r') + 1).trimEnd()).join('\n');
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
