/** Sends a Postman collection: its requests in order, with their scripts, on the few functions of Postman that the scripts call. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { collectionFaults } from './recorded-examples.ts';

interface Folder {
  readonly name: string;
  readonly item: readonly Item[];
}
export interface Item {
  readonly name: string;
  readonly event: readonly { readonly listen: string; readonly script: { readonly exec: readonly string[] } }[];
  readonly request: {
    readonly method: string;
    readonly url: { readonly raw: string };
    readonly header: readonly { readonly key: string; readonly value: string }[];
    readonly auth?: Auth;
    readonly body?: { readonly raw: string };
  };
}
interface Auth {
  readonly type: string;
  readonly bearer?: readonly { readonly value: string }[];
}
export interface Collection {
  readonly info: { readonly schema: string };
  readonly auth: Auth;
  readonly item: readonly Folder[];
  readonly variable: readonly { readonly key: string; readonly value: string }[];
}

export interface Run {
  readonly requests: number;
  /** Each as `request: reason`. */
  readonly failures: readonly string[];
}

/** Variables of an environment hide those of the collection. `only` names the requests to send; all without it. */
export interface RunOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly only?: readonly string[];
}

export async function sendCollection(collection: Collection, { environment, only }: RunOptions): Promise<Run> {
  const own = new Map(collection.variable.map(({ key, value }) => [key, value]));
  const hiding = new Map(Object.entries(environment));
  const filled = (text: string) =>
    text.replace(/\{\{([$\w]+)\}\}/g, (whole, name) =>
      name === '$guid' ? randomUUID() : String(hiding.get(name) ?? own.get(name) ?? whole),
    );
  const items = collection.item.flatMap(folder => folder.item);
  const chosen = items.filter(({ name }) => only?.includes(name) ?? true);
  const failures: string[] = [];
  for (const { name, event, request } of chosen) {
    const runScripts = (listen: string, response: object) => {
      const test = (title: string, check: () => void) => attempt(`${name}: ${title}`, check);
      const pm = { collectionVariables: own, environment: hiding, expect, response, test };
      const scripts = event.filter(one => one.listen === listen).map(({ script }) => script.exec.join('\n'));
      for (const script of scripts) attempt(name, () => new Function('pm', script)(pm));
    };
    const attempt = (what: string, act: () => void) => {
      try {
        act();
      } catch (error) {
        failures.push(`${what}: ${(error as Error).message}`);
      }
    };
    runScripts('prerequest', {});
    const { type, bearer } = request.auth ?? collection.auth;
    const headers = new Headers(request.header.map(({ key, value }) => [key, filled(value)]));
    if (type === 'bearer') headers.set('Authorization', `Bearer ${filled(bearer![0]!.value)}`);
    const body = request.body ? filled(request.body.raw) : null;
    const { status, text } = await fetch(filled(request.url.raw), { method: request.method, headers, body }).then(
      async answer => ({ status: answer.status, text: await answer.text() }),
    );
    if (status === 200) failures.push(...collectionFaults(name, text).map(fault => `${name}: ${fault}`));
    runScripts('test', {
      json: () => JSON.parse(text),
      to: { have: { status: (wanted: number) => expect(status, text).to.equal(wanted) } },
    });
  }
  return { requests: chosen.length, failures };
}
