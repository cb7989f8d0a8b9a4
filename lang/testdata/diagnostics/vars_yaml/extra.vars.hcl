[DEFAULT]
password = hunter2
