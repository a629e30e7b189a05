import type { AddressList } from './address-list.ts';

/** Where a server is. */
export interface ServerEndpoint {
  /** The address, without a trailing slash. Starts the local daemon if that is needed and allowed. */
  address(): Promise<string>;
  /** Called when no server answers there. True if it has been started again, so that another attempt makes sense. */
  restart(): Promise<boolean>;
  /** The address as of now. Starts nothing once there has been one; the last one known if the server is away. */
  currentAddress(): Promise<string>;
  /** Path of the Unix socket of the server at the address; null if it is reached by the address. Valid after `address`. */
  readonly socketPath: string | null;
  /** Present if the server has several addresses. */
  readonly addresses?: AddressList;
}

/** The endpoint of a server at an address that this program does not start. */
export const fixedEndpoint = (address: string): ServerEndpoint => ({
  address: () => Promise.resolve(address),
  restart: () => Promise.resolve(false),
  currentAddress: () => Promise.resolve(address),
  socketPath: null,
});

/** The endpoint of a server that runs already: nothing is started to reach it. */
export const startingNothing = (endpoint: ServerEndpoint): ServerEndpoint => ({
  address: () => endpoint.currentAddress(),
  currentAddress: () => endpoint.currentAddress(),
  restart: () => Promise.resolve(false),
  get socketPath() {
    return endpoint.socketPath;
  },
  ...(endpoint.addresses ? { addresses: endpoint.addresses } : {}),
});
