Documentation.addTranslations({
    locale: "ko",
    messages: {
        ", in ": ", 문서: ",
        "Hide Search Matches": "검색어 표시 지우기",
        "Preparing search...": "검색 준비 중…",
        "Search": "검색",
        "Search Page": "검색",
        "Search Results": "검색 결과",
        "Search finished, found ${resultCount} page(s) matching the search query.": "검색어가 있는 문서 ${resultCount}개를 찾았다.",
        "Searching": "검색 중",
        "Your search did not match any documents. Please make sure that all words are spelled correctly and that you've selected enough categories.": "검색어가 있는 문서가 없다. 철자를 확인하거나 더 짧은 말로 찾아보라."
    },
    plural_expr: "0"
});
