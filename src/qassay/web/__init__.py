"""The application: one page = one view = one template = one typed context, with a JSON twin.

application      create_app, the checks around every request, and the connections that it is served on
site             what is served, how, and who asks: Site (folder, store, configuration), Settings, Person
routing          Router.page, Router.action, Router.download, and what views ask for: ThePerson, TheSite
guard            what happens before a view: who is it, may they, is the body fit to be read
single_sign_on   from an identity provider to an account
errors           what is answered when something is wrong, in words of the page
logs             one line per request, and the numbers of /metrics
health           routes that belong to no page: health, metrics, static files, the API as OpenAPI
rendering        templates
uploading        uploaded runs: received, checked, kept, and what is wrong with them
checking         uploaded runs, read in a process with limits
background       work that takes longer than a page may, in a thread
demonstration    the built-in evaluation as it might be half-way

questions        the test set, and questions under development with warnings for their author
pooling          the pool as pages show it, and its making
judging          what the pages on which people judge share
progress         how far the judging is: of all, by set, by person, and by question
similar_strings  strings of responses, those alike together, and lists of nuggets side by side

pages/           one file per page
results/         what results pages show, worked out in a process of its own
sheet/           the judging sheet: the same screens in one file, without a server
"""
