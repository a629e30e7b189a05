/** Requests of SCIM: filters, paths and operations near those that identity providers send, and wrong in every way that came to mind. */
import fc from 'fast-check';
import { text } from './values.ts';

/** Stands for a service token of the daemon that is tried which may use SCIM. */
export const SCIM_TOKEN = '\0scim\0';

const attribute = fc.constantFrom(
  ...[
    'userName',
    'displayName',
    'name.familyName',
    'emails',
    'emails.value',
    'active',
    'externalId',
    'id',
    'groups',
    'members',
  ],
  ...[
    'meta.lastModified',
    'urn:ietf:params:scim:schemas:core:2.0:User:userName',
    'title',
    'a.b.c',
    '',
    '$ref',
    'userName.x',
  ],
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department',
);
const operator = fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'pr', 'EQ', 'xx', '');
const value = fc.oneof(
  text.map(one => JSON.stringify(one)),
  fc.constantFrom('true', 'False', 'null', '5', '-1e9', '1e999', '"', '"\\', '"\\u12', 'alice', '""'),
);
const comparison = fc.tuple(attribute, operator, value).map(parts => parts.join(' '));

/** Filters of brackets and comparisons, most of them well formed. */
const filter = fc.letrec<{ filter: string }>(tie => ({
  filter: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'filter' },
    comparison,
    fc
      .tuple(tie('filter'), fc.constantFrom(' and ', ' or ', ' AND ', 'and', ' '), tie('filter'))
      .map(parts => parts.join('')),
    tie('filter').map(one => `(${one})`),
    tie('filter').map(one => `not (${one})`),
    fc.tuple(attribute, tie('filter')).map(([name, one]) => `${name}[${one}]`),
  ),
})).filter;

const long = fc
  .tuple(
    fc.constantFrom(
      '(',
      'not (',
      'a[',
      'userName pr and ',
      'userName eq "',
      '\\',
      ' ',
      'a.',
      '"',
      'urn:',
      '[a eq "b"]',
    ),
    fc.nat(5000),
  )
  .map(([part, times]) => part.repeat(Math.ceil(times / part.length)));
const anyFilter = fc.oneof(
  { weight: 6, arbitrary: filter },
  { weight: 2, arbitrary: long },
  { weight: 1, arbitrary: text },
);
const path = fc.oneof(
  attribute,
  fc
    .tuple(attribute, anyFilter, fc.constantFrom('', '.value', '.', '..', '.a.b', ']'))
    .map(([name, one, sub]) => `${name}[${one}]${sub}`),
  anyFilter,
);

const id = fc.oneof(
  fc.constantFrom('PER-1', 'PER-2', 'GRP-1', 'PER-0', 'USR-1', 'a/b', '%', '..'),
  text.map(encodeURIComponent0),
);
const scalar = fc.oneof(
  text,
  fc.constantFrom<unknown>(true, 'False', 5, null, [], {}, [{ value: 'PER-1' }], [{ $ref: null, value: 'False' }]),
);
const operation = fc.record(
  {
    op: fc.oneof(fc.constantFrom<unknown>('add', 'Replace', 'remove', 'move', 5), text),
    path: fc.oneof<fc.Arbitrary<unknown>[]>(path, fc.constantFrom(5, null, {})),
    value: fc.oneof(scalar, fc.dictionary(attribute, scalar, { maxKeys: 4 })),
  },
  { requiredKeys: ['op'] },
);
const body = fc.oneof(
  fc.record({ Operations: fc.oneof<fc.Arbitrary<unknown>[]>(fc.array(operation, { maxLength: 5 }), scalar) }),
  fc.record(
    {
      userName: scalar,
      displayName: scalar,
      externalId: scalar,
      active: scalar,
      name: fc.oneof(scalar, fc.record({ givenName: scalar, formatted: scalar })),
      emails: fc.oneof(scalar, fc.array(fc.record({ value: scalar, type: scalar, primary: scalar }), { maxLength: 3 })),
      members: fc.array(fc.record({ value: id }), { maxLength: 3 }),
    },
    { requiredKeys: [] },
  ),
  scalar,
);

/** A lone surrogate cannot be encoded. */
function encodeURIComponent0(one: string): string {
  return encodeURIComponent(one.toWellFormed());
}

const query = fc
  .record(
    {
      filter: anyFilter,
      startIndex: fc.constantFrom('1', '0', '-1', '2', '9999999', 'x', '1e9'),
      count: fc.constantFrom('0', '1', '200', '-5', 'x'),
      attributes: attribute,
      excludedAttributes: fc.constantFrom('members', 'id', ',,', ''),
    },
    { requiredKeys: [] },
  )
  .map(given =>
    Object.entries(given)
      .map(([name, one]) => `${name}=${encodeURIComponent0(one)}`)
      .join('&'),
  );

/** The parts of a SCIM request. */
export const scimMessage = fc.record({
  method: fc.constantFrom('GET', 'GET', 'GET', 'POST', 'PUT', 'PATCH', 'PATCH', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
  path: fc
    .tuple(
      fc.constantFrom(
        'Users',
        'Users',
        'Users',
        'Groups',
        'Groups',
        'Schemas',
        'ResourceTypes',
        'ServiceProviderConfig',
        'Users/.search',
        'Groups/.search',
        'Bulk',
        '',
      ),
      fc.option(id),
      fc.option(query, { nil: '' }),
    )
    .map(([kind, one, asked]) =>
      `/scim/v2/${kind}${one === null ? '' : `/${one}`}${asked && `?${asked}`}`.replaceAll(/[^!-~]/g, '_'),
    ),
  lines: fc
    .tuple(
      fc.constantFrom(SCIM_TOKEN, SCIM_TOKEN, SCIM_TOKEN, SCIM_TOKEN, 'none'),
      fc.constantFrom('application/scim+json', 'application/json', 'text/plain'),
      fc.constantFrom('', '', '', 'If-Match: W/"1"', 'If-Match: *', 'If-None-Match: W/"1"'),
    )
    .map(([token, type, match]) => [
      'Host: localhost',
      `Authorization: Bearer ${token}`,
      `Content-Type: ${type}`,
      match,
    ]),
  body: body.map(one => Buffer.from(JSON.stringify(one) ?? '')),
});
