import { describe, expect, it } from 'vitest';
import { buildPostman } from '../../src/contract/postman.ts';
import { routes } from '../../src/contract/routes.ts';
import { type Collection, type Item, sendCollection } from '../support/postman.ts';
import { describeRuns } from '../support/postman-runs.ts';

const collection = buildPostman('0.0.0') as unknown as Collection;
const items = collection.item.flatMap(folder => folder.item);

describe('the Postman collection', () => {
  const address = ({ request }: Item) =>
    `${request.method} ${request.url.raw.replace('{{base_url}}', '').split('?')[0]}`;

  it('has format 2.1 and the variables base_url and token', () => {
    expect(collection.info.schema).toContain('/v2.1.0/');
    expect(collection.variable.map(({ key }) => key)).toEqual(expect.arrayContaining(['base_url', 'token']));
  });

  it('has every operation once except the stream, which the format does not support', () => {
    const expected = Object.values(routes)
      .filter(({ id }) => id !== routes.streamNotifications.id)
      .map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, '{{$1}}')}`);
    expect(items.map(address).sort()).toEqual(expected.sort());
  });

  it('has each folder once, and defines each variable that it uses', () => {
    const folders = collection.item.map(({ name }) => name);
    expect(folders).toEqual([...new Set(folders)]);
    const used = [...JSON.stringify(collection).matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name!);
    const defined = collection.variable.map(({ key }) => key);
    expect([...new Set(used)].filter(name => !defined.includes(name))).toEqual([]);
  });

  it('starts with the login, whose script stores the token', () => {
    expect(address(items[0]!)).toBe('POST /api/auth/login');
    const script = items[0]!.event.find(({ listen }) => listen === 'test')?.script.exec.join('\n');
    expect(script).toContain("save('token', envelope.data.token)");
  });

  it('checks every response', () => {
    for (const item of items)
      expect(
        item.event.some(({ listen }) => listen === 'test'),
        item.name,
      ).toBe(true);
  });
});

describeRuns('a run of the Postman collection', sendCollection);
