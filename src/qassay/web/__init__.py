"""The application: one page = one view = one template = one typed context, with a JSON twin.

application      create_app: everything put together
settings         how it is served: address, limits, who is trusted
site             what is served, and who asks: Site (folder, store, configuration), Person
routing          Router.page, Router.action, Router.download, and what views ask for: Who, TheSite
guard            what happens before a view: who is it, may they, is the body fit to be read
identity         from a request to an account: session, token or trusted header
single_sign_on   from an identity provider to an account
identity_provider  what is asked of one
security         headers, hosts, origins
limits           how often somebody may try, and what a body may hold
serving          connections, and how long they may be slow
errors           what is answered when something is wrong
logs             one line a request, and the numbers of /metrics
health           is it alive, how is it doing, the static files
description      the API as OpenAPI
rendering        templates
background       work that takes longer than a page may, in a thread
demonstration    the built-in evaluation as it might be half-way

questions        the test set as pages need it
documents        the collection, and a document as it is shown
drafts           questions under development, in their series
draft_warnings   what an author should look at
uploads          runs as they come in
pooling          the pool as pages show it, and its making
progress         who judges what, and how far they are
next_steps       from the questions to the results: what is there, and what comes next
judging          what the pages on which people judge share
nugget_input     what a change of a nugget list carries
similar_strings  strings of responses, those alike together
nugget_comparison  lists of nuggets side by side

pages/           one file a page
results/         what results pages show, worked out in a process of its own
sheet/           the judging sheet: the same screens in one file, without a server
"""
