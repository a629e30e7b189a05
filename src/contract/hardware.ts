import { type Static, Type } from 'typebox';
import { roles, route } from './define.ts';
import { endpoints } from './endpoints.ts';
import { driverStatus, key } from './key.ts';

export type Key = Static<typeof key>;
export type DriverStatus = Static<typeof driverStatus>;

export const listKeys = route({
  id: 'listKeys',
  ...endpoints.listKeys,
  tag: 'Hardware',
  summary: 'List the physical keys that are plugged into this machine',
  extension: true,
  access: [...roles, 'LOCAL'],
  limit: 'query',
  data: Type.Object({ list: Type.Array(key), drivers: Type.Array(driverStatus) }),
  errors: [],
});
