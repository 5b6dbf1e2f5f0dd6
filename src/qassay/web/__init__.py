"""The application: one page = one view = one template = one typed context, with a JSON twin.

application   create_app: everything put together
settings      how it is served: address, limits, who is trusted
routing       Router.page, Router.action, Router.download, and what views ask for: Who, Place
guard         what happens before a view: who is it, may they, is the body fit to be read
identity      from a request to an account: session, token or trusted header
security      headers, hosts, origins
errors        what is answered when something is wrong
logs          one line a request, and the numbers of /metrics
rendering     templates
pages/        one file a page
results/      what results pages show, worked out in a process of its own
sheet/        the judging sheet: the same screens in one file, without a server
"""
