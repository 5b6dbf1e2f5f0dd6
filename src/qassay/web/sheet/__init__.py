"""Judging sheets: one HTML file with the application's own screens, for an assessor without the server.

the evaluation --content--> the content of the file, and its key --page--> the file
"""
