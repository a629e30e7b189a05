/** The requests that Microsoft Entra ID and Okta document, word for word but for ids and names. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts';
import { patchOp, type ScimCall, scimClient } from '../support/scim.ts';

let daemon: TestDaemon;
let scim: ScimCall;
beforeAll(async () => {
  daemon = await startTestDaemon();
  scim = await scimClient(daemon);
});
afterAll(() => daemon?.stop());

let made = 0;
const user = async (more: object = {}) => {
  const body = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: `user.${++made}`, ...more };
  return (await scim('POST', '/Users', body)).body;
};
const changed = async (id: string, ...operations: object[]) => {
  const { status, body } = await scim('PATCH', `/Users/${id}`, patchOp(...operations));
  expect(status).toBe(200);
  return body;
};

describe('Entra ID', () => {
  it('creates a user', async () => {
    const answer = await scim('POST', '/Users', {
      schemas: [
        'urn:ietf:params:scim:schemas:core:2.0:User',
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
      ],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName: 'Test_User_ab6490ee-1e48-479e-a20b-2d77186b5dd1',
      active: true,
      emails: [{ primary: true, type: 'work', value: 'Test_User_fd0ea19b-0777-472c-9f96-4f70d2226f2e@testuser.com' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      roles: [],
    });
    expect(answer.status).toBe(201);
  });

  it('looks for a user that does not exist', async () => {
    const { status, body } = await scim('GET', '/Users?filter=userName%20eq%20%22non-existent%20user%22');
    expect([status, body]).toEqual([
      200,
      {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
        totalResults: 0,
        startIndex: 1,
        itemsPerPage: 0,
        Resources: [],
      },
    ]);
  });

  it('updates several attributes', async () => {
    const { id } = await user({ emails: [{ type: 'work', value: 'before@testuser.com' }] });
    const body = await changed(
      id,
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@microsoft.com' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
    );
    expect(body.emails).toEqual([{ value: 'updatedEmail@microsoft.com', type: 'work', primary: true }]);
    expect(body.name).toEqual({ familyName: 'updatedFamilyName' });
  });

  it('adds an address and attributes of other schemas to a user without them', async () => {
    const { id } = await user();
    const body = await changed(
      id,
      { op: 'Add', path: 'emails[type eq "work"].value', value: 'added@microsoft.com' },
      { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'Sales' },
      { op: 'Add', path: 'addresses[type eq "work"].formatted', value: 'Street 1' },
      {
        op: 'Add',
        value: {
          'name.givenName': 'Grace',
          'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber': '17',
          'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:organizationalUnitName1': 'Sales',
        },
      },
    );
    expect(body).toMatchObject({ emails: [{ value: 'added@microsoft.com' }], name: { givenName: 'Grace' } });
  });

  it('updates the user name', async () => {
    const { id } = await user();
    const userName = '5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.com';
    expect(await changed(id, { op: 'Replace', path: 'userName', value: userName })).toMatchObject({ userName });
  });

  it.each([
    ['as a boolean', { op: 'Replace', path: 'active', value: false }],
    ['as a text', { op: 'Replace', path: 'active', value: 'False' }],
    ['as an array', { op: 'Replace', path: 'active', value: [{ $ref: null, value: 'False' }] }],
    ['as an addition', { op: 'Add', path: 'active', value: 'False' }],
  ])('disables a user: %s', async (_how, operation) => {
    const { id } = await user();
    expect(await changed(id, operation)).toMatchObject({ active: false });
  });

  it('works with groups', async () => {
    const made = await scim('POST', '/Groups', {
      schemas: [
        'urn:ietf:params:scim:schemas:core:2.0:Group',
        'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
      ],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'displayName',
      meta: { resourceType: 'Group' },
    });
    expect(made.status).toBe(201);
    const path = `/Groups/${made.body.id}`;
    expect((await scim('GET', `${path}?excludedAttributes=members`)).body).toMatchObject({
      displayName: 'displayName',
    });
    const found = await scim('GET', '/Groups?excludedAttributes=members&filter=displayName eq "displayName"');
    expect(found.body.Resources).toMatchObject([{ id: made.body.id }]);
    const rename = patchOp({
      op: 'Replace',
      path: 'displayName',
      value: '1879db59-3bdf-4490-ad68-ab880a269474updatedDisplayName',
    });
    expect((await scim('PATCH', path, rename)).body.displayName).toContain('updatedDisplayName');
    const { id } = await user();
    const add = patchOp({ op: 'Add', path: 'members', value: [{ $ref: null, value: id }] });
    expect((await scim('PATCH', path, add)).body.members).toMatchObject([{ value: id }]);
    const remove = patchOp({ op: 'Remove', path: 'members', value: [{ $ref: null, value: id }] });
    expect((await scim('PATCH', path, remove)).body.members).toEqual([]);
    expect(await scim('DELETE', path)).toMatchObject({ status: 204 });
  });

  it('deletes a user', async () => {
    const { id } = await user();
    expect(await scim('DELETE', `/Users/${id}`)).toMatchObject({ status: 204, body: null });
  });
});

describe('Okta', () => {
  it('looks for a user, creates it with a password, and reads it', async () => {
    const search = '/Users?filter=userName%20eq%20%22test.user%40okta.local%22&startIndex=1&count=100';
    expect((await scim('GET', search)).body.totalResults).toBe(0);
    const { status, body } = await scim('POST', '/Users', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'test.user@okta.local',
      name: { givenName: 'Test', familyName: 'User' },
      emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
      displayName: 'Test User',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
      active: true,
    });
    expect([status, JSON.stringify(body).includes('1mz050nq')]).toEqual([201, false]);
    expect((await scim('GET', search)).body.totalResults).toBe(1);
    expect((await scim('GET', `/Users/${body.id}`)).status).toBe(200);
  });

  it('updates a user by PUT with what it has read', async () => {
    const { id, userName } = await user();
    const { body } = await scim('PUT', `/Users/${id}`, {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      id,
      userName,
      name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
      emails: [{ primary: true, value: 'test.user@okta.local', type: 'work', display: 'test.user@okta.local' }],
      active: true,
      groups: [],
      meta: { resourceType: 'User' },
    });
    expect(body).toMatchObject({ id, name: { givenName: 'Another', familyName: 'User' } });
  });

  it('deactivates and reactivates a user', async () => {
    const { id } = await user();
    expect(await changed(id, { op: 'replace', value: { active: false } })).toMatchObject({ active: false });
    expect(await changed(id, { op: 'replace', value: { active: true } })).toMatchObject({ active: true });
  });

  it('works with groups', async () => {
    const { id: member } = await user();
    const { status, body } = await scim('POST', '/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'Test SCIMv2',
      members: [],
    });
    expect(status).toBe(201);
    expect((await scim('GET', '/Groups?startIndex=1&count=100')).body.totalResults).toBe(1);
    const path = `/Groups/${body.id}`;
    const rename = patchOp({ op: 'replace', value: { id: body.id, displayName: 'Test SCIMv2 renamed' } });
    expect((await scim('PATCH', path, rename)).body.displayName).toBe('Test SCIMv2 renamed');
    const change = patchOp(
      { op: 'remove', path: `members[value eq "${member}"]` },
      { op: 'add', path: 'members', value: [{ value: member, display: 'test.user@okta.local' }] },
    );
    expect((await scim('PATCH', path, change)).body.members).toMatchObject([{ value: member }]);
    const { body: replaced } = await scim('PUT', path, {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      id: body.id,
      displayName: 'Test SCIMv2 renamed',
      members: [],
    });
    expect(replaced.members).toEqual([]);
  });
});

describe('paths and operations that cannot be meant', () => {
  it.each([
    [{ op: 'replace', path: 'userName eq "a"', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'emails[type eq', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'emails[type eq "work"].', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'a'.repeat(5000), value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 5, value: 'x' }, 'invalidPath'],
    [{ op: 'remove' }, 'noTarget'],
    [{ op: 'move', path: 'userName', value: 'x' }, 'invalidSyntax'],
    [{ op: 'replace', value: 'x' }, 'invalidValue'],
    [{ op: 'remove', path: 'userName' }, 'invalidValue'],
    [{ op: 'replace', path: 'active', value: null }, 'invalidValue'],
    [{ op: 'replace', path: 'active', value: 'no' }, 'invalidValue'],
    [{ op: 'replace', path: 'name', value: 'no' }, 'invalidValue'],
    [{ op: 'replace', path: 'id', value: 'PER-9' }, 'mutability'],
    [{ op: 'add', path: 'groups', value: [{ value: 'GRP-1' }] }, 'mutability'],
  ])('%j is refused with %s', async (operation, scimType) => {
    const { id } = await user();
    const { status, body } = await scim('PATCH', `/Users/${id}`, patchOp(operation));
    expect([status, body.scimType]).toEqual([400, scimType]);
  });

  it('a body without Operations is refused', async () => {
    const { id } = await user();
    for (const body of [{}, { Operations: [] }, { Operations: 'x' }, { Operations: [5] }])
      expect((await scim('PATCH', `/Users/${id}`, body)).body).toMatchObject({
        status: '400',
        scimType: 'invalidSyntax',
      });
  });
});
