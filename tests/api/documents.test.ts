import fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { documents } from '../../daemon/http/routes/documents.ts';
import { Limiter } from '../../daemon/requests/limiter.ts';

const base = 'http://127.0.0.1:7470';

describe('the documents of the interface', () => {
  let app: FastifyInstance;
  beforeAll(async () => {
    app = fastify();
    app.setNotFoundHandler((_, reply) => reply.code(404).send({ code: 404, message: 'no such operation', data: null }));
    documents(app, { version: '1.2.3', console: false, limiter: new Limiter() });
    await app.ready();
  });
  afterAll(() => app.close());
  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers });

  it('leads a browser from / to the page, and no other client', async () => {
    const browser = await get('/', { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' });
    expect([browser.statusCode, browser.headers.location]).toEqual([302, '/api/swagger-ui.html']);
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }] as Record<string, string>[]) {
      const other = await get('/', headers);
      expect([other.statusCode, other.json()]).toEqual([404, { code: 404, message: 'no such operation', data: null }]);
    }
  });

  it('the page refers only to files of this service, and all of them exist', async () => {
    const page = await get('/api/swagger-ui.html');
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    const links = [...page.body.matchAll(/(?:src|href)="([^"]*)"/g)].map(
      ([, link]) => new URL(link!, `${base}/api/swagger-ui.html`),
    );
    expect(links.length).toBeGreaterThanOrEqual(4);
    for (const link of links) {
      expect(link.origin).toBe(base);
      const file = await get(link.pathname);
      expect(file.statusCode, link.pathname).toBe(200);
      expect(file.rawPayload.length, link.pathname).toBeGreaterThan(100);
    }
  });

  it('the page runs only scripts of this service: none inline, none evaluated, none from elsewhere', async () => {
    const page = await get('/api/swagger-ui.html');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("style-src 'self';");
    expect(policy).not.toContain('unsafe');
    expect(page.body).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(page.body).not.toMatch(/\son\w+=|<style|style=/);
  });

  it('a file has its media type and is not sent again while it is unchanged', async () => {
    const first = await get('/api/swagger-ui/swagger-ui.css');
    expect(first.headers['content-type']).toBe('text/css; charset=utf-8');
    expect(first.headers['x-content-type-options']).toBe('nosniff');
    const again = await get('/api/swagger-ui/swagger-ui.css', { 'if-none-match': String(first.headers.etag) });
    expect(again.statusCode).toBe(304);
    expect(again.body).toBe('');
  });

  it.each(['package.json', 'index.html', 'swagger-ui.js', '..%2fpackage.json', '%2e%2e', 'constructor', ''])(
    'only the files that the page uses are served: %j is 404',
    async name => {
      const response = await get(`/api/swagger-ui/${name}`);
      expect(response.statusCode).toBe(404);
      expect(response.json()).toEqual({ code: 404, message: 'no such operation', data: null });
    },
  );

  it('OpenAPI is the same document as JSON and as YAML, with separate versions of interface and program', async () => {
    const json = await get('/api/openapi.json');
    const yaml = await get('/api/openapi.yaml');
    expect(json.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(yaml.headers['content-type']).toBe('application/yaml; charset=utf-8');
    expect(parse(yaml.body)).toEqual(json.json());
    expect(json.json().openapi).toBe('3.0.3');
    expect(json.json().info).toMatchObject({ version: 'v1.0', 'x-program-version': '1.2.3' });
    expect(json.json().servers).toEqual([{ url: '/' }]);
  });

  it('the Postman collection uses the address it was fetched from', async () => {
    const response = await get('/api/postman.json', { host: 'keys.example:7470' });
    expect(variable(response.json(), 'base_url')).toBe('http://keys.example:7470');
  });

  it('an invalid Host header does not get into the Postman collection', async () => {
    const response = await get('/api/postman.json', { host: 'evil"/><script>' });
    expect(variable(response.json(), 'base_url')).toBe(base);
  });
});

function variable(collection: { variable: { key: string; value: string }[] }, name: string): string | undefined {
  return collection.variable.find(({ key }) => key === name)?.value;
}
