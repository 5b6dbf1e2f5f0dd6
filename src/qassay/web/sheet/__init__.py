"""Judging sheets: one HTML file with the application's own screens, for an assessor without the server.

the evaluation --content--> what the file holds, and its key --page--> the file
"""
