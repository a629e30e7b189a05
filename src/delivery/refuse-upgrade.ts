/** Responses that change the protocol of a connection, which no request wants. */

type UpgradeListener = (response: { readonly statusCode?: number | undefined }, socket: { destroy(): void }) => void;

/** Closes the connection of a response such as HTTP 101 and reports its status. Without a listener, the request would end without an event. */
export function refuseUpgrade(
  request: { once(event: 'upgrade', listener: UpgradeListener): unknown },
  refused: (status: number) => void,
): void {
  request.once('upgrade', ({ statusCode = 0 }, socket) => {
    socket.destroy();
    refused(statusCode);
  });
}
