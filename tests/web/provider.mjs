// An identity provider on the loopback address: the package oidc-provider, which the OpenID Foundation has certified.
// Whoever signs in is who they say; the pages are the package's own. Arguments: the package, a port, our address.
const [where, port, redirect] = process.argv.slice(2);
const { default: Provider } = await import(where);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    { client_id: 'qassay', client_secret: 'a secret: 100% & more', redirect_uris: [redirect] },
    { client_id: 'public', token_endpoint_auth_method: 'none', redirect_uris: [redirect] },
  ],
  claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
  findAccount: async (_, id) => ({
    accountId: id,
    claims: async () => ({ sub: id, name: `${id} of the provider`, email: `${id}@example.org` }),
  }),
  cookies: { keys: ['of a test'] },
});
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
